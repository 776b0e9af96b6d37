// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: primitives of emmy_graph. Out: fewer of them with the same meaning.
// Assumes nothing; composite ops are left alone. Refuses nothing.
// Numerics: exact but for roundings dropped between maps, which `precise-casts` keeps.
#include "SimplifyPatterns.h"
#include "dialects/Graph/Graph.h"
#include "emmy/Graph/Passes.h"

#define DEBUG_TYPE "emmy-simplify"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "emmy/Graph/Passes.h.inc"

namespace {
struct SimplifyPass : impl::SimplifyPassBase<SimplifyPass> {
  using Base::Base;
  void runOnOperation() override {
    SimplifyCounts counts;
    RewritePatternSet patterns(&getContext());
    populateViewPatterns(patterns, counts);
    populateMapPatterns(patterns, counts);
    if (!preciseCasts)
      populateRoundingPatterns(patterns, counts);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation().emitError("simplification does not end");
      return signalPassFailure();
    }
    numViews += counts.views;
    numMaps += counts.maps;
    numRoundings += counts.roundings;
  }
};
} // namespace
} // namespace emmy::graph
