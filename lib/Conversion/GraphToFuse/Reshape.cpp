// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a reshape does to indices, and how dimensions split so that it does little.
#include "IndexMath.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace emmy {

namespace {
/// Neighbouring dimensions of two shapes with equal products: [fromBegin, fromEnd) of one, [toBegin, toEnd) of the other.
struct Group {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
};
} // namespace

/// The finest cut of both shapes into groups with equal products; one group where the products cannot be compared.
static SmallVector<Group> findGroups(const IndexMath &math, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  SmallVector<Group> groups;
  unsigned i = 0, j = 0, fromBegin = 0, toBegin = 0;
  AffineExpr a = math.getConstant(1), b = a;
  while (i < from.size() || j < to.size()) {
    // The side with the smaller product so far takes its next dimension; equal sides take one each.
    bool equal = i == fromBegin && j == toBegin;
    bool takeFrom = i < from.size() && (equal || j >= to.size() || math.estimate(a) <= math.estimate(b));
    if (takeFrom)
      a = math.simplify(a * from[i++]);
    if (j < to.size() && (equal || !takeFrom))
      b = math.simplify(b * to[j++]);
    if (a != b)
      continue;
    groups.push_back({fromBegin, i, toBegin, j});
    fromBegin = i, toBegin = j;
    a = b = math.getConstant(1);
  }
  if (fromBegin < from.size() || toBegin < to.size())
    groups.push_back({fromBegin, unsigned(from.size()), toBegin, unsigned(to.size())});
  return groups;
}

SmallVector<AffineExpr> IndexMath::reshape(ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) const {
  SmallVector<AffineExpr> result(to.size());
  for (const Group &group : findGroups(*this, from, to)) {
    AffineExpr flat = getConstant(0);
    for (unsigned i = group.fromBegin; i < group.fromEnd; ++i)
      flat = flat * from[i] + index[i];
    AffineExpr stride = getConstant(1);
    for (unsigned j = group.toEnd; j-- > group.toBegin;) {
      AffineExpr piece = flat.floorDiv(stride);
      if (j > group.toBegin)
        piece = piece % to[j];
      result[j] = simplify(piece);
      stride = simplify(stride * to[j]);
    }
  }
  return result;
}

/// Products of the sizes to the right of each dimension in [begin, end), innermost (1) first, then that of all of them.
static SmallVector<AffineExpr> getBoundaries(const IndexMath &math, ArrayRef<AffineExpr> sizes, unsigned begin, unsigned end) {
  SmallVector<AffineExpr> strides{math.getConstant(1)};
  for (unsigned i = end; i-- > begin;)
    strides.push_back(math.simplify(strides.back() * sizes[i]));
  return strides;
}

SmallVector<AffineExpr> IndexMath::refine(ArrayRef<AffineExpr> sizes, unsigned dim, ArrayRef<AffineExpr> other) const {
  SmallVector<AffineExpr> whole{sizes[dim]};
  for (const Group &group : findGroups(*this, sizes, other)) {
    if (dim < group.fromBegin || dim >= group.fromEnd)
      continue;
    SmallVector<AffineExpr> own = getBoundaries(*this, sizes, group.fromBegin, group.fromEnd);
    AffineExpr low = own[group.fromEnd - 1 - dim], high = own[group.fromEnd - dim];
    SmallVector<AffineExpr> pieces;
    AffineExpr at = low;
    for (AffineExpr boundary : getBoundaries(*this, other, group.toBegin, group.toEnd)) {
      // A boundary inside this dimension is a multiple of what was reached and a divisor of the end.
      if (boundary == at || estimate(boundary) <= estimate(at) || estimate(boundary) >= estimate(high))
        continue;
      std::optional<AffineExpr> step = divide(boundary, at);
      if (!step || !divide(high, boundary))
        return whole;
      pieces.insert(pieces.begin(), *step);
      at = boundary;
    }
    std::optional<AffineExpr> last = divide(high, at);
    if (!last)
      return whole;
    pieces.insert(pieces.begin(), *last);
    return pieces;
  }
  return whole;
}

} // namespace emmy
