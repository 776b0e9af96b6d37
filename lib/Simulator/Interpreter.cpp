// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dispatch, values and control flow.
#include "Interpreter.h"
#include "emmy/Tile/Layout.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::simulator;

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

namespace emmy::simulator {
/// Op name to method.
class Handlers {
public:
  using Handler = LogicalResult (*)(Interpreter &, Operation *);
  Handlers();
  Handler find(Operation &op) const { return table.lookup(op.getName().getStringRef()); }

private:
  template <typename OpTy, LogicalResult (Interpreter::*Method)(OpTy)> void add() {
    table[OpTy::getOperationName()] = [](Interpreter &interpreter, Operation *op) {
      return (interpreter.*Method)(cast<OpTy>(op));
    };
  }
  llvm::StringMap<Handler> table;
};
} // namespace emmy::simulator

Handlers::Handlers() {
  using I = Interpreter;
  add<scf::ForOp, &I::execFor>();
  add<scf::IfOp, &I::execIf>();
  add<scf::WhileOp, &I::execWhile>();
  add<tile::WarpSpecializeOp, &I::execSpecialize>();
  add<tile::OneThreadOp, &I::execOneThread>();
  add<tile::ReadOp, &I::execRead>();
  add<tile::RingSlotOp, &I::execRingSlot>();
  add<tile::AllocOp, &I::execAlloc>();
  add<tile::SubviewOp, &I::execSubview>();
  add<tile::BarrierInitOp, &I::execBarrierInit>();
  add<tile::FenceBarrierInitOp, &I::execFenceBarrierInit>();
  add<tile::BarrierArriveOp, &I::execArrive>();
  add<tile::BarrierExpectOp, &I::execExpect>();
  add<tile::BarrierWaitOp, &I::execWait>();
  add<tile::SyncOp, &I::execSync>();
  add<tile::FenceAsyncOp, &I::execFenceAsync>();
  add<tile::PdlWaitOp, &I::execPdlWait>();
  add<tile::TmaLoadOp, &I::execTmaLoad>();
  add<tile::TmaStoreOp, &I::execTmaStore>();
  add<tile::TmaCommitOp, &I::execTmaCommit>();
  add<tile::TmaWaitOp, &I::execTmaWait>();
  add<tile::CpAsyncOp, &I::execCpAsync>();
  add<tile::CpAsyncCommitOp, &I::execCpAsyncCommit>();
  add<tile::CpAsyncWaitOp, &I::execCpAsyncWait>();
  add<tile::SplatOp, &I::execSplat>();
  add<tile::UndefOp, &I::execUndef>();
  add<tile::CoordOp, &I::execCoord>();
  add<tile::MapOp, &I::execMap>();
  add<tile::ReduceOp, &I::execReduce>();
  add<tile::AnyOp, &I::execAny>();
  add<tile::BroadcastOp, &I::execBroadcast>();
  add<tile::ExtractOp, &I::execExtract>();
  add<tile::LoadOp, &I::execLoad>();
  add<tile::StoreOp, &I::execStore>();
  add<tile::GatherOp, &I::execGather>();
  add<tile::ScatterOp, &I::execScatter>();
  add<tile::LoadScalarOp, &I::execLoadScalar>();
  add<tile::AtomicAddOp, &I::execAtomicAdd>();
  add<tile::PutOp, &I::execPut>();
  add<tile::GetOp, &I::execGet>();
  add<tile::LoadSharedOp, &I::execLoadShared>();
  add<tile::StoreSharedOp, &I::execStoreShared>();
  add<tile::WgmmaOp, &I::execWgmma>();
  add<tile::WgmmaFenceOp, &I::execWgmmaFence>();
  add<tile::WgmmaCommitOp, &I::execWgmmaCommit>();
  add<tile::WgmmaWaitOp, &I::execWgmmaWait>();
  add<tile::MmaOp, &I::execMma>();
  // Nothing to do: a dependent launch may begin at any time anyway.
  table[tile::PdlLaunchOp::getOperationName()] = [](Interpreter &, Operation *) { return success(); };
}

LogicalResult Interpreter::countStep(Operation *op) {
  ++unit.step;
  if (unit.resumedAt != machine.scheduler.steps()) {
    unit.resumedAt = machine.scheduler.steps();
    unit.stepThen = unit.step;
  } else if (unit.step - unit.stepThen > machine.options.maxOps) {
    return fail(op, "livelock", unit.name + " executes more than " + Twine(machine.options.maxOps) + " ops without a pause");
  }
  return success();
}

LogicalResult Interpreter::execute(Operation &op) {
  static const Handlers handlers;
  if (failed(countStep(&op)))
    return failure();
  for (Type type : op.getResultTypes()) {
    auto fragment = dyn_cast<tile::FragType>(type);
    const Type element = fragment ? fragment.getElementType() : type;
    if (element.isIntOrFloat() && !formatOf(element))
      return fail(&op, "unsupported", "the simulator does not know numbers of this type");
    if (fragment && fragment.getLayout().getNumWarps() != unit.warps)
      return fail(&op, "unit-layout", "the fragment is distributed over " + Twine(fragment.getLayout().getNumWarps()) + " warps, but " +
                                          unit.name + " has " + Twine(unit.warps));
  }
  if (Handlers::Handler handler = handlers.find(op))
    return handler(*this, &op);
  return execElementOp(op);
}

LogicalResult Interpreter::runBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(execute(op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const simulator::Value &Interpreter::lookup(mlir::Value value) const {
  for (const Unit *scope = &unit; scope; scope = scope->parent)
    if (auto it = scope->values.find(value); it != scope->values.end())
      return it->second;
  llvm_unreachable("a value is used before its definition was executed");
}

std::vector<int64_t> Interpreter::integers(ValueRange values) const {
  std::vector<int64_t> result;
  for (mlir::Value value : values)
    result.push_back(integer(value));
  return result;
}

FailureOr<FragmentRef> Interpreter::readable(Operation *op, mlir::Value value) {
  FragmentRef fragment = as<FragmentRef>(value);
  if (fragment->undefined)
    return machine.report(op, {"uninitialized", unit.name + " reads a fragment that nothing has defined",
                               fragment->definedBy, "undefined here"});
  if (fragment->pendingGroup)
    return machine.report(op, {"wgmma-wait",
                               unit.name + " reads an accumulator of wgmma group " + std::to_string(fragment->pendingGroup) +
                                   " that no wgmma_wait has given back",
                               fragment->definedBy, "written asynchronously here"});
  return fragment;
}

void Interpreter::define(Operation *op, mlir::Value value, FragmentRef fragment) {
  fragment->definedAt = unit.step;
  fragment->definedBy = op;
  set(value, std::move(fragment));
}

LogicalResult Interpreter::execElementOp(Operation &op) {
  std::shared_ptr<ElementOp> &compiled = machine.elementOps[&op];
  if (!compiled)
    compiled = compileElementOp(&op);
  if (!compiled || op.getNumResults() != 1)
    return fail(&op, "unsupported", "the simulator does not know this op");
  SmallVector<Number, 4> operands;
  for (mlir::Value operand : op.getOperands()) {
    const simulator::Value &value = lookup(operand);
    // A choice between handles (buffers, fragments) is the one op that moves something other than numbers.
    if (!std::holds_alternative<Number>(value)) {
      if (auto select = dyn_cast<arith::SelectOp>(op)) {
        set(select.getResult(), lookup(integer(select.getCondition()) ? select.getTrueValue() : select.getFalseValue()));
        return success();
      }
      return fail(&op, "unsupported", "the simulator expects scalar operands");
    }
    operands.push_back(std::get<Number>(value));
  }
  FailureOr<Number> result = evaluate(&op, *compiled, operands.data());
  if (failed(result))
    return failure();
  set(op.getResult(0), *result);
  return success();
}

FailureOr<Number> Interpreter::evaluate(Operation *op, const ElementOp &element, const Number *operands) {
  if (element.undefined)
    if (auto reason = element.undefined(operands[0].integer, operands[1].integer, element.width))
      return fail(op, "arithmetic", unit.name + " " + *reason);
  return element.compute(operands);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

std::vector<simulator::Value> Interpreter::terminatorValues(Block &block) const {
  std::vector<simulator::Value> values;
  for (mlir::Value operand : block.getTerminator()->getOperands())
    values.push_back(lookup(operand));
  return values;
}

LogicalResult Interpreter::execFor(scf::ForOp op) {
  const int64_t end = integer(op.getUpperBound()), step = integer(op.getStep());
  if (step <= 0)
    return fail(op, "unsupported", "a loop step is positive");
  std::vector<simulator::Value> carried;
  for (mlir::Value init : op.getInitArgs())
    carried.push_back(lookup(init));
  for (int64_t i = integer(op.getLowerBound()), next; i < end; i = next) {
    if (failed(countStep(op)))
      return failure();
    const uint64_t left = static_cast<uint64_t>(end) - static_cast<uint64_t>(i);
    next = static_cast<uint64_t>(step) >= left ? end : i + step; // the sum may not fit
    setInteger(op.getInductionVar(), i);
    for (auto [argument, value] : llvm::zip(op.getRegionIterArgs(), carried))
      set(argument, value);
    if (failed(runBlock(*op.getBody())))
      return failure();
    carried = terminatorValues(*op.getBody());
  }
  for (auto [result, value] : llvm::zip(op.getResults(), carried))
    set(result, value);
  return success();
}

LogicalResult Interpreter::execIf(scf::IfOp op) {
  Region &region = integer(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  for (auto [result, value] : llvm::zip(op.getResults(), terminatorValues(region.front())))
    set(result, value);
  return success();
}

LogicalResult Interpreter::execWhile(scf::WhileOp op) {
  std::vector<simulator::Value> carried;
  for (mlir::Value init : op.getInits())
    carried.push_back(lookup(init));
  while (true) {
    for (auto [argument, value] : llvm::zip(op.getBeforeArguments(), carried))
      set(argument, value);
    if (failed(runBlock(*op.getBeforeBody())))
      return failure();
    std::vector<simulator::Value> values = terminatorValues(*op.getBeforeBody());
    const bool again = std::get<Number>(values.front()).integer;
    if (failed(countStep(op)))
      return failure();
    values.erase(values.begin());
    if (!again) {
      for (auto [result, value] : llvm::zip(op.getResults(), values))
        set(result, value);
      return success();
    }
    for (auto [argument, value] : llvm::zip(op.getAfterArguments(), values))
      set(argument, value);
    if (failed(runBlock(*op.getAfterBody())) || failed(giveWay()))
      return failure();
    carried = terminatorValues(*op.getAfterBody());
  }
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void Interpreter::setArguments() {
  tile::KernelOp kernel = machine.kernel();
  for (auto [argument, parameter] : llvm::zip(kernel.getBody().getArguments(), machine.launch.parameters)) {
    if (auto *scalar = std::get_if<int64_t>(&parameter)) {
      set(argument, ofInteger(wrapTo(*formatOf(argument.getType()), *scalar)));
    } else if (auto *real = std::get_if<double>(&parameter)) {
      set(argument, ofReal(roundTo(*formatOf(argument.getType()), *real)));
    } else if (auto *pointer = std::get_if<PointerParameter>(&parameter)) {
      set(argument, PointerRef{pointer->buffer, pointer->offset});
    } else {
      const auto &tensor = std::get<TensorMapParameter>(parameter);
      auto type = cast<tile::TmapType>(argument.getType());
      auto map = std::make_shared<TensorMap>();
      map->buffer = tensor.buffer;
      map->offset = tensor.offset;
      map->map = {tile::toBox(type), tensor.sizes, tensor.strides, tensor.offset};
      map->format = formatOf(type.getElementType()).value_or(Format::I8);
      set(argument, map);
    }
  }
}

LogicalResult Interpreter::runKernel() {
  setArguments();
  for (BlockArgument argument : machine.kernel().getBody().getArguments())
    if (isa<tile::TmapType>(argument.getType()))
      if (auto error = emmy::math::mapError(as<std::shared_ptr<TensorMap>>(argument)->map))
        return fail(machine.kernel(), "tensor-map", "argument #" + Twine(argument.getArgNumber()) + ": " + *error);
  return runBlock(machine.kernel().getBody().front());
}

LogicalResult Interpreter::execSpecialize(tile::WarpSpecializeOp op) {
  auto running = std::make_shared<int64_t>(0);
  for (const tile::RolePlan::Entry &entry : tile::planRoles(op).roles) {
    tile::RoleOp role = entry.role;
    const int64_t size = role.getWarpgroups() ? 4 : 1;
    for (int64_t i = 0; i < static_cast<int64_t>(role.getUnits()); ++i) {
      machine.units.push_back(std::make_unique<Unit>());
      Unit *child = machine.units.back().get();
      child->cta = unit.cta;
      child->parent = &unit;
      child->role = role;
      child->firstWarp = entry.firstWarp + i * size;
      child->warps = size;
      child->name = role.getName().str() + (role.getUnits() > 1 ? " " + std::to_string(i) : "") + " of " + unit.cta->name;
      Block &body = role.getBody().front();
      if (body.getNumArguments())
        child->values[body.getArgument(0)] = ofInteger(i);
      ++*running;
      machine.scheduler.spawn(child->name, role.getName().str(), [&machine = machine, child, &body, running] {
        if (succeeded(Interpreter(machine, *child).runBlock(body)))
          --*running;
      });
    }
  }
  return success(machine.scheduler.wait(
      op, [running] { return *running == 0; }, [running] { return std::to_string(*running) + " units of its roles"; }));
}

LogicalResult Interpreter::execOneThread(tile::OneThreadOp op) {
  const bool outer = unit.oneThread;
  unit.oneThread = true;
  const LogicalResult result = runBlock(op.getBody().front());
  unit.oneThread = outer;
  return result;
}

LogicalResult Interpreter::execRead(tile::ReadOp op) {
  const Cta &cta = *unit.cta;
  const int64_t register_ = static_cast<int64_t>(op.getWhich());
  switch (op.getWhich()) {
  case tile::SpecialRegister::cta_x:
  case tile::SpecialRegister::cta_y:
  case tile::SpecialRegister::cta_z:
    setInteger(op.getResult(), cta.coordinates[register_]);
    break;
  case tile::SpecialRegister::grid_x:
  case tile::SpecialRegister::grid_y:
  case tile::SpecialRegister::grid_z:
    setInteger(op.getResult(), machine.launch.grid[register_ - 3]);
    break;
  case tile::SpecialRegister::cluster_rank:
    setInteger(op.getResult(), cta.rank);
    break;
  case tile::SpecialRegister::cluster_id:
    setInteger(op.getResult(), cta.coordinates[0] / static_cast<int64_t>(machine.kernel().getCluster()));
    break;
  case tile::SpecialRegister::warp:
    setInteger(op.getResult(), unit.firstWarp);
    break;
  }
  return success();
}

LogicalResult Interpreter::execRingSlot(tile::RingSlotOp op) {
  const uint32_t counter = static_cast<uint32_t>(integer(op.getCounter())), stages = op.getStages();
  setInteger(op.getStage(), counter % stages);
  setInteger(op.getParity(), counter / stages % 2);
  return success();
}
