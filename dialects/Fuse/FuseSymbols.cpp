// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The symbols that a kernel depends on.
#include "dialects/Fuse/Fuse.h"
#include <set>

using namespace mlir;
using namespace emmy::fuse;

static void addSymbols(std::set<unsigned> &symbols, ArrayRef<AffineExpr> exprs) {
  for (AffineExpr expr : exprs)
    if (expr)
      expr.walk([&](AffineExpr part) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
          symbols.insert(symbol.getPosition());
      });
}

SmallVector<unsigned> emmy::fuse::getUsedSymbols(KernelOp kernel) {
  std::set<unsigned> symbols;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    addSymbols(symbols, emmy::getSizes(cast<RankedTensorType>(argument.getType())));
    if (emmy::LayoutAttr layout = kernel.getLayout(argument.getArgNumber()))
      addSymbols(symbols, layout.getStrides());
  }
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    addSymbols(symbols, axis.getSize());
  kernel.walk([&](Operation *op) {
    if (auto map = op->getAttrOfType<AffineMapAttr>("map"))
      addSymbols(symbols, map.getValue().getResults());
  });
  return {symbols.begin(), symbols.end()};
}
