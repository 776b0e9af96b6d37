// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A chain of products through a fold, on wgmma: one producer warp copies the rows once and streams the operands of both products
// through two rings; each consumer warpgroup keeps 64 rows of everything that the fold carries in registers.
#ifndef EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACHAIN_H
#define EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACHAIN_H

#include "FragmentBuilder.h"

namespace emmy {

/// A tile that the producer copies: in panels of one span, each as many lines as the tile has along its other axis.
struct ChainOperand {
  sched::StageOp stage;
  sched::TmaPlan plan;
  mlir::StringAttr inner; // the contiguous axis
  int64_t lines, panels;
  mlir::Value descriptor, buffer; // [stages ×] panels × lines × span
};

/// Operands that arrive together: one ring of stages and its barriers.
struct ChainRing {
  int64_t stages = 1;
  llvm::SmallVector<ChainOperand> operands;
  mlir::Value full, empty; // no empty where the tiles stay
};

/// A product along the fold's axis, and where its sum is carried.
struct ChainValue {
  sched::MmaOp mma;
  unsigned carried;
  mlir::StringAttr column;
  int64_t columns;
  unsigned weights; // which of the distinct register operands
};

/// A register operand: the tile of a product, and the one it is rounded from (the same if it is not).
struct ChainWeights {
  mlir::Value rounded, unrounded;
};

class WgmmaChain {
public:
  WgmmaChain(sched::ProgramOp program, sched::ChainAttr schedule);
  void build();

private:
  // What a consumer carries from block to block.
  struct State {
    llvm::SmallVector<mlir::Value> statistics; // in the order of carried tiles that are not sums
    llvm::SmallVector<mlir::Value> sums;       // before the last block's factors and products
    llvm::SmallVector<mlir::Value> pending;    // what those factors come from
    llvm::SmallVector<mlir::Value> weights;    // register operands of the last block's products
  };

  void analyze();
  void allocate();
  void addOperand(ChainRing &ring, sched::StageOp stage);
  void initBarriers();
  void placeTile();
  void placeRange();
  mlir::AffineExpr outerTiles();

  void producer();
  void copy(ChainRing &ring, mlir::Value stage, const AxisStarts &starts);

  void consumer();
  mlir::Value acquire(ChainRing &ring, mlir::Value use);
  void release(ChainRing &ring, mlir::Value use);
  llvm::SmallVector<mlir::Value> wait(int64_t pending, mlir::ValueRange fragments);
  mlir::Value operandOf(mlir::Value tile, mlir::Value stage);
  llvm::SmallVector<mlir::Value> multiplyScores(mlir::Value stage);
  llvm::SmallVector<mlir::Value> addValues(mlir::Value stage, const State &state);
  /// The pointwise part of a block: fills in statistics and pending, and gives the weights, not rounded yet.
  llvm::SmallVector<mlir::Value> between(mlir::Value index, mlir::ValueRange products, State &state, bool isPlain);
  void round(mlir::ValueRange unrounded, State &state);
  mlir::Value reduce(FragmentBuilder &fragments, sched::ReduceOp op, bool isPlain);
  State initialState();
  State firstBlock(State state);
  State loop(State state, mlir::Value from, mlir::Value to, bool isPlain);
  State step(State state, mlir::Value index, bool isPlain);
  llvm::SmallVector<mlir::Value> flatten(const State &state);
  State restore(mlir::ValueRange values, const State &like);
  void epilogue(const State &state, mlir::ValueRange sums);
  void writeColumns(unsigned value, const State &state, mlir::ValueRange sums, bool withRows);

  FragmentPlace placeOf(mlir::StringAttr column, int64_t columns, mlir::Value columnStart);
  FragmentPlace placeOfBlock(mlir::Value index);
  void inOneThread(llvm::function_ref<void()> body);
  mlir::Value subview(mlir::Value buffer, mlir::ValueRange offsets, llvm::ArrayRef<int64_t> shape);
  bool mayBeMasked();

  sched::ProgramOp program;
  sched::ChainAttr s;
  sched::PipelineOp pipeline;
  std::unique_ptr<KernelBuilder> builder;
  llvm::SmallVector<sched::MmaOp> scores;
  llvm::SmallVector<ChainValue> values;
  llvm::SmallVector<ChainWeights> weights;
  llvm::SmallVector<unsigned> statistics; // carried tiles that are not sums
  llvm::SmallVector<mlir::Value> pendingTiles;
  ChainRing resident, scoreRing, valueRing;
  AxisStarts starts;
  mlir::Value firstBlockOfRange, blocks, plainFrom, plainTo; // in blocks, the last two from the first block of the range
  mlir::Value unit;
  struct Store {
    sched::WriteOp write;
    sched::TmaPlan plan;
    mlir::Value descriptor;
    unsigned value; // whose columns it has
  };
  llvm::SmallVector<Store> stores;
  mlir::Value staging; // stores × consumers × panels × 64 × span
};

} // namespace emmy

#endif // EMMY_LIB_CONVERSION_SCHEDTOTILE_WGMMACHAIN_H
