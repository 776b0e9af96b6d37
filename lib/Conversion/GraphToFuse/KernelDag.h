// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel while it is being planned: elements as nodes of a graph without duplicates, over axes known by number.
// Cheap to build and to throw away, so a fusion is decided on the kernel that it would make.
#ifndef EMMY_LIB_CONVERSION_GRAPHTOFUSE_KERNELDAG_H
#define EMMY_LIB_CONVERSION_GRAPHTOFUSE_KERNELDAG_H

#include "IndexMath.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace emmy {

enum class NodeKind { Load, Index, Map, Reduce, Contract };

/// What the region of a map node computes.
enum class MapBody {
  Graph,      // the region of the emmy_graph.map `op`
  Constant,   // `constant`
  Broadcast,  // its first operand; the others only lend their axes
  SelectBelow, // operand 0 < 0 ? operand 1 : operand 2
  WrapIndex,  // operand 0 < 0 ? operand 0 + operand 1 : operand 0
  Product,    // operand 0 * operand 1, in the result's type
  Affine,     // `exprs[0]` with dimension j for operand j
};

struct Node {
  NodeKind kind;
  MapBody body = MapBody::Graph;
  bool guarded = false;                            // load
  mlir::Operation *op = nullptr;                   // what it came from; null for glue
  mlir::Value source;                              // load: the tensor
  mlir::Type element;
  mlir::Attribute constant;
  llvm::SmallVector<mlir::AffineExpr, 4> exprs{}; // load: indices; index and affine: the expression
  llvm::SmallVector<unsigned, 4> operands{};      // nodes; load: its indirect indices
  llvm::SmallVector<unsigned, 2> over{};          // reduce, contract: axes
  llvm::SmallVector<unsigned, 4> axes{};          // it varies over these, ascending
};

/// Dimensions at or above this stand for indirect indices, by their position in `KernelDag::indirect`.
constexpr unsigned kIndirectBase = 1u << 16;

struct Axis {
  mlir::AffineExpr size;
  bool isOutput = false; // an output is stored over it
};

struct Store {
  mlir::Value value; // the graph value that the kernel makes
  unsigned node = 0;
  llvm::SmallVector<mlir::AffineExpr, 4> at{};
  llvm::SmallVector<unsigned, 4> over{};
  mlir::Value tied{}; // the buffer that the output takes over, for a scatter
};

class KernelDag {
public:
  explicit KernelDag(const IndexMath &math) : math(math) {}

  unsigned addAxis(mlir::AffineExpr size, bool isOutput = false);
  /// The node equal to `node`; its axes are filled in.
  unsigned add(Node node);
  /// A dimension that stands for the value of `node` in index expressions.
  mlir::AffineExpr getIndirect(unsigned node);
  unsigned getNodeBehind(mlir::AffineDimExpr dim) const { return indirect[dim.getPosition() - kIndirectBase]; }
  /// Axes in `exprs`, and the nodes behind indirect dimensions.
  void collectDims(llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::SmallVectorImpl<unsigned> &axes,
                   llvm::SmallVectorImpl<unsigned> &nodes) const;
  /// `node` with these axes among its own.
  unsigned broadcast(unsigned node, llvm::ArrayRef<unsigned> axes);

  /// Makes axes one where that lets two loads be one, as often as possible, then drops what no store needs.
  void unifyAxes();

  IndexMath math;
  std::vector<Node> nodes; // operands before users
  std::vector<Axis> axes;
  std::vector<Store> stores;

private:
  using AxisPairs = llvm::SmallVector<std::pair<unsigned, unsigned>, 4>;
  std::optional<AxisPairs> matchLoads(const Node &a, const Node &b) const;
  bool canUnify(unsigned a, unsigned b) const;
  /// Rebuilds with axis `axisOf[i]` for axis i, from what the stores need.
  void rebuild(llvm::ArrayRef<unsigned> axisOf);

  llvm::SmallVector<unsigned> indirect;
  llvm::DenseSet<unsigned> contractAxes;
  llvm::MapVector<unsigned, llvm::SmallVector<unsigned, 2>> byHash;
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_GRAPHTOFUSE_KERNELDAG_H
