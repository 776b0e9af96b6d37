// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where each value of a fuse kernel is computed when the kernel becomes loops.
//
// Stores give the outer loops, merged into a tree where they agree. Every other value is demanded inside some chain of loops.
// A reduction, contraction, fold, or a map too dear to repeat is *placed*: it is computed once at the end of the longest part
// of the loops common to all its demands that ranges over its own axes only, into a buffer over its remaining axes. All other
// values are computed where they are used, hoisted out of the loops that they do not vary over.
#ifndef EMMY_LIB_CONVERSION_FUSETOCPU_PLACEMENT_H
#define EMMY_LIB_CONVERSION_FUSETOCPU_PLACEMENT_H

#include "dialects/Fuse/Fuse.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace emmy::fuse {

/// One loop around a point of the program. Loops are the same only if their owners and parts are.
struct Loop {
  mlir::StringAttr axis;
  const void *owner;
  unsigned part;
  FoldOp block; // a fold's loop over blocks, which binds a range of the axis, not an index

  bool binds(mlir::StringAttr name) const { return !block && axis == name; }
  bool operator==(const Loop &other) const { return axis == other.axis && owner == other.owner && part == other.part; }
};
using Chain = llvm::SmallVector<Loop>;

/// Where a value is computed and what its buffer ranges over.
struct Place {
  size_t depth = 0;                          // loops around it
  llvm::SmallVector<mlir::StringAttr> rest;  // axes of its buffer, outermost first; none: a scalar
  mlir::StringAttr vector;                   // axis to accumulate along in the innermost loop, one of `rest`; may be null
  llvm::SmallVector<mlir::StringAttr> order; // reduced axes, outermost first
};

/// The loops around the stores.
struct StoreNode {
  struct Item {
    StoreOp store; // or a nested loop
    std::unique_ptr<StoreNode> loop;
  };
  mlir::StringAttr axis;
  std::vector<Item> items;
};

struct Placement {
  explicit Placement(KernelOp kernel);
  /// The place of `op`'s results; null where they are computed at each use.
  const Place *lookup(mlir::Operation *op) const {
    auto it = places.find(op);
    return it == places.end() ? nullptr : &it->second;
  }
  /// The axes that a fold loops over around its blocks: those of all results that no outer loop binds.
  llvm::SmallVector<mlir::StringAttr> getFoldLoops(FoldOp fold) const;

  StoreNode stores;

private:
  void buildStoreTree();
  void demandStores(const StoreNode &node, const Chain &chain);
  void demand(mlir::Value value, const Chain &chain);
  void placeBlock(mlir::Block &block);
  void placeInline(mlir::Operation *op, llvm::ArrayRef<Chain> chains);
  void placeAccumulation(mlir::Operation *op, llvm::ArrayRef<Chain> chains);
  void placeFold(FoldOp fold);
  bool isWorthBuffer(mlir::Operation *op, llvm::ArrayRef<Chain> chains, bool redundant);

  KernelOp kernel;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Chain>> demands;
  llvm::MapVector<mlir::Operation *, Place> places;
};

/// How the address that `value` is read from moves with `axis`.
enum class Stride { Zero, Unit, Other };
Stride getStride(KernelOp kernel, mlir::Value value, mlir::StringAttr axis);

/// Work of one element of `value`, its operands' included as far as they are maps; a transcendental function counts 8.
unsigned getCost(mlir::Value value);

} // namespace emmy::fuse

#endif // EMMY_LIB_CONVERSION_FUSETOCPU_PLACEMENT_H
