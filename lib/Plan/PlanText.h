// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// JSON pieces of a plan, compact and in a fixed order.
#ifndef EMMY_LIB_PLAN_PLANTEXT_H
#define EMMY_LIB_PLAN_PLANTEXT_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Types.h"
#include <set>
#include <string>

namespace emmy {

using Fields = llvm::ArrayRef<std::pair<llvm::StringRef, std::string>>;

/// `{"a": 1, "b": 2}`
std::string jsonObject(Fields fields);
/// `[1, 2]`
std::string jsonList(llvm::ArrayRef<std::string> items);
/// The same with each item on a line of its own.
std::string jsonLines(llvm::ArrayRef<std::string> items);
std::string jsonString(llvm::StringRef text);
std::string jsonNumber(int64_t number);
std::string jsonBool(bool value);

/// The plan's name of an element type; empty if it has none.
llvm::StringRef getDtypeName(mlir::Type type);

/// Prints expressions as the plan spells them and remembers the symbols they use.
class ExprPrinter {
public:
  std::string print(mlir::AffineExpr expr);
  std::string print(llvm::ArrayRef<mlir::AffineExpr> exprs);
  const std::set<unsigned> &getSymbols() const { return symbols; }

private:
  std::set<unsigned> symbols;
};

} // namespace emmy

#endif // EMMY_LIB_PLAN_PLANTEXT_H
