// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A contraction on wgmma: one producer warp fills a ring of stages by TMA, warpgroups multiply from it and store, tile after tile.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACONTRACTION_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACONTRACTION_H

#include "FragmentBuilder.h"
#include "TileOrder.h"

namespace emmy {

/// An operand's ring in shared memory.
struct OperandRing {
  sched::StageOp stage;
  mlir::StringAttr across;  // the axis of the tile that it spans
  int64_t size;             // elements along it
  int64_t share;            // CTAs that load it together
  bool kMajor;              // contiguous along the contracted axis
  sched::TmaPlan plan;
  mlir::Value descriptor, buffer;
};

/// A result that leaves through panels in shared memory.
struct PanelStore {
  sched::WriteOp write;
  sched::TmaPlan plan;
  mlir::Value descriptor, buffer;
};

class WgmmaContraction {
public:
  WgmmaContraction(sched::ProgramOp program, sched::ContractionAttr schedule, TargetAttr target);
  void build();

private:
  void allocate();
  void initBarriers();
  void producer();
  void load(OperandRing &ring, const AxisStarts &starts, mlir::Value k, mlir::Value stage);
  void consumer();
  /// Runs `body` for every tile of this CTA with the number of ring uses before it; `body` gives the number after it.
  void forTiles(llvm::function_ref<mlir::Value(mlir::Value tile, mlir::Value uses)> body);
  llvm::SmallVector<mlir::Value> multiply(mlir::Value stage, mlir::Value unit, mlir::ValueRange accumulators, bool first);
  llvm::SmallVector<mlir::Value> mainLoop(mlir::Value unit, mlir::Value uses);
  void release(mlir::Value stage);
  void epilogue(mlir::ValueRange accumulators, const AxisStarts &starts, mlir::Value unit);
  void storePanels(FragmentBuilder &fragments, const AxisStarts &starts, mlir::Value unit, int64_t step);
  tile::LayoutAttr accumulatorLayout(int64_t columns);
  mlir::Value subview(mlir::Value buffer, mlir::ValueRange offsets, llvm::ArrayRef<int64_t> shape);

  sched::ProgramOp program;
  sched::ContractionAttr s;
  TargetAttr target;
  sched::PipelineOp pipeline;
  sched::MmaOp mma;
  TileOrder order;
  int64_t persistentCtas = 0; // 0 where every CTA has one tile
  std::unique_ptr<KernelBuilder> builder;
  int64_t blocksPerUnit;      // of 64 rows
  OperandRing a, b;
  mlir::Value full, empty, rank, firstTile, steps;
  llvm::SmallVector<PanelStore> panels;
  int64_t panel;              // columns
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACONTRACTION_H
