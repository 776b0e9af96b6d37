// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The two groups of patterns of --emmy-simplify.
#ifndef EMMY_LIB_GRAPH_SIMPLIFYPATTERNS_H
#define EMMY_LIB_GRAPH_SIMPLIFYPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace emmy::graph {

/// What the patterns did.
struct SimplifyCounts {
  int64_t views = 0, maps = 0, roundings = 0;
};

/// Composition of views, and views that broadcasting of maps makes needless.
void populateViewPatterns(mlir::RewritePatternSet &patterns, SimplifyCounts &counts);
/// Constants into map regions, needless operands and maps, cheaper arithmetic.
void populateMapPatterns(mlir::RewritePatternSet &patterns, SimplifyCounts &counts);
/// Roundings between two maps, where the second is continuous in the value.
void populateRoundingPatterns(mlir::RewritePatternSet &patterns, SimplifyCounts &counts);

} // namespace emmy::graph

#endif // EMMY_LIB_GRAPH_SIMPLIFYPATTERNS_H
