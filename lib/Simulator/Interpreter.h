// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executes a program for one unit on that unit's fiber. Every op is a method; what may block gives way to the scheduler.

#ifndef EMMY_LIB_SIMULATOR_INTERPRETER_H
#define EMMY_LIB_SIMULATOR_INTERPRETER_H

#include "Machine.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace emmy::simulator {

/// The meaning of a scalar op of arith or math; nothing for ops that the simulator does not know.
std::shared_ptr<ElementOp> compileElementOp(mlir::Operation *op);

/// Offset of a register that a limit or a mask cuts off.
constexpr int64_t cutOff = std::numeric_limits<int64_t>::min();

/// Remembers that another CTA, or a copy, uses this CTA until some point of its own clock.
void noteForeign(Cta &cta, const BarrierUse &use, ForeignUse::Kind kind);

class Interpreter {
public:
  Interpreter(Machine &machine, Unit &unit) : machine(machine), unit(unit) {}

  mlir::LogicalResult runKernel();
  mlir::LogicalResult runBlock(mlir::Block &block);

private:
  mlir::LogicalResult execute(mlir::Operation &op);

  //===--- Values (Interpreter.cpp) ----------------------------------------===//
  const Value &lookup(mlir::Value value) const;
  Number number(mlir::Value value) const { return std::get<Number>(lookup(value)); }
  int64_t integer(mlir::Value value) const { return number(value).integer; }
  std::vector<int64_t> integers(mlir::ValueRange values) const;
  template <typename T> const T &as(mlir::Value value) const { return std::get<T>(lookup(value)); }
  void set(mlir::Value value, Value result) { unit.values[value] = std::move(result); }
  void setInteger(mlir::Value value, int64_t result) { set(value, ofInteger(result)); }
  /// The fragment, ready to be read by ordinary instructions at `op`.
  mlir::FailureOr<FragmentRef> readable(mlir::Operation *op, mlir::Value value);
  /// Publishes a fragment that ordinary instructions made.
  void define(mlir::Operation *op, mlir::Value value, FragmentRef fragment);
  mlir::LogicalResult fail(mlir::Operation *op, llvm::StringRef rule, const llvm::Twine &text) {
    return machine.fail(op, rule, text);
  }
  mlir::LogicalResult check(mlir::Operation *op, const std::optional<Finding> &finding) {
    return finding ? machine.report(op, *finding) : mlir::success();
  }
  /// Lets other units run; fails once the simulation has been stopped.
  mlir::LogicalResult giveWay() {
    unit.issuing = false;
    return mlir::success(machine.scheduler.yield());
  }
  /// Counts an op or a loop's iteration; fails at a unit that goes on and on without a pause.
  mlir::LogicalResult countStep(mlir::Operation *op);
  /// The op's value for these operands; fails where it has none.
  mlir::FailureOr<Number> evaluate(mlir::Operation *op, const ElementOp &element, const Number *operands);

  //===--- Control flow (Interpreter.cpp) ----------------------------------===//
  mlir::LogicalResult execFor(mlir::scf::ForOp op);
  mlir::LogicalResult execIf(mlir::scf::IfOp op);
  mlir::LogicalResult execWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult execElementOp(mlir::Operation &op);
  std::vector<Value> terminatorValues(mlir::Block &block) const;
  mlir::LogicalResult execSpecialize(tile::WarpSpecializeOp op);
  mlir::LogicalResult execOneThread(tile::OneThreadOp op);
  mlir::LogicalResult execRead(tile::ReadOp op);
  mlir::LogicalResult execRingSlot(tile::RingSlotOp op);
  void setArguments();

  //===--- Barriers and order (Barriers.cpp) -------------------------------===//
  mlir::LogicalResult execAlloc(tile::AllocOp op);
  mlir::LogicalResult execSubview(tile::SubviewOp op);
  mlir::LogicalResult execBarrierInit(tile::BarrierInitOp op);
  mlir::LogicalResult execFenceBarrierInit(tile::FenceBarrierInitOp op);
  mlir::LogicalResult execArrive(tile::BarrierArriveOp op);
  mlir::LogicalResult execExpect(tile::BarrierExpectOp op);
  mlir::LogicalResult execWait(tile::BarrierWaitOp op);
  mlir::LogicalResult execSync(tile::SyncOp op);
  mlir::LogicalResult execFenceAsync(tile::FenceAsyncOp op);
  mlir::LogicalResult execPdlWait(tile::PdlWaitOp op);
  mlir::FailureOr<Mbarrier *> barrier(mlir::Operation *op, Cta &cta, const BarrierRef &ref, int64_t index);
  mlir::LogicalResult arriveAt(tile::BarrierArriveOp op, int64_t rank);
  mlir::LogicalResult meet(mlir::Operation *op, Rendezvous &point, int64_t parties, const char *what);
  void syncUnit();

  //===--- Copies (Copies.cpp) ---------------------------------------------===//
  mlir::LogicalResult execTmaLoad(tile::TmaLoadOp op);
  mlir::LogicalResult execTmaStore(tile::TmaStoreOp op);
  mlir::LogicalResult execTmaCommit(tile::TmaCommitOp op);
  mlir::LogicalResult execTmaWait(tile::TmaWaitOp op);
  mlir::LogicalResult execCpAsync(tile::CpAsyncOp op);
  mlir::LogicalResult execCpAsyncCommit(tile::CpAsyncCommitOp op);
  mlir::LogicalResult execCpAsyncWait(tile::CpAsyncWaitOp op);

  //===--- Fragments (Fragments.cpp) ---------------------------------------===//
  mlir::LogicalResult execSplat(tile::SplatOp op);
  mlir::LogicalResult execUndef(tile::UndefOp op);
  mlir::LogicalResult execCoord(tile::CoordOp op);
  mlir::LogicalResult execMap(tile::MapOp op);
  mlir::LogicalResult execReduce(tile::ReduceOp op);
  mlir::LogicalResult exchangeThroughScratch(tile::ReduceOp op);
  mlir::LogicalResult execAny(tile::AnyOp op);
  mlir::LogicalResult execBroadcast(tile::BroadcastOp op);
  mlir::LogicalResult execExtract(tile::ExtractOp op);
  /// Runs an element region on columns of values; all columns are equally long.
  using Column = std::vector<Number>;
  mlir::FailureOr<std::vector<Column>> runRegion(mlir::Block &body, std::vector<Column> arguments);

  //===--- Fragments and memory (Transfers.cpp) ----------------------------===//
  mlir::LogicalResult execLoad(tile::LoadOp op);
  mlir::LogicalResult execStore(tile::StoreOp op);
  mlir::LogicalResult execGather(tile::GatherOp op);
  mlir::LogicalResult execScatter(tile::ScatterOp op);
  mlir::LogicalResult execLoadScalar(tile::LoadScalarOp op);
  mlir::LogicalResult execAtomicAdd(tile::AtomicAddOp op);
  mlir::LogicalResult execPut(tile::PutOp op);
  mlir::LogicalResult execGet(tile::GetOp op);
  mlir::LogicalResult execLoadShared(tile::LoadSharedOp op);
  mlir::LogicalResult execStoreShared(tile::StoreSharedOp op);
  /// Byte offset of each register in global memory, `cutOff` where a limit or a mask says so.
  mlir::FailureOr<std::vector<int64_t>> globalOffsets(mlir::Operation *op, const LayoutTable &table, PointerRef pointer,
                                                      int64_t offset, mlir::ValueRange strides, mlir::ValueRange limits,
                                                      int64_t vector, int64_t elementBytes, const Fragment *mask = nullptr);
  mlir::LogicalResult readGlobal(mlir::Operation *op, size_t buffer, const std::vector<int64_t> &offsets, Fragment &into);
  mlir::LogicalResult writeGlobal(mlir::Operation *op, size_t buffer, const std::vector<int64_t> &offsets, const Fragment &from,
                                  bool add);
  /// The CTA whose shared memory an op accesses: this one, or the `rank`-th of the cluster.
  mlir::FailureOr<Cta *> ctaOf(mlir::Operation *op, mlir::Value rank);
  std::vector<int64_t> sharedAddresses(const LayoutTable &table, const SharedRef &shared, bool transpose) const;
  mlir::LogicalResult checkMatrixMove(mlir::Operation *op, const LayoutTable &table, bool transpose);

  //===--- Tensor cores (TensorCores.cpp) ----------------------------------===//
  mlir::LogicalResult execWgmma(tile::WgmmaOp op);
  mlir::LogicalResult execWgmmaFence(tile::WgmmaFenceOp op);
  mlir::LogicalResult execWgmmaCommit(tile::WgmmaCommitOp op);
  mlir::LogicalResult execWgmmaWait(tile::WgmmaWaitOp op);
  mlir::LogicalResult execMma(tile::MmaOp op);

  Machine &machine;
  Unit &unit;
  friend class Handlers;
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_INTERPRETER_H
