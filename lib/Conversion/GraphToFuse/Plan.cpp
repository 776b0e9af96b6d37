// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Planning: every reduction and contraction starts as a kernel of its own with the element-wise work around it; then kernels
// merge where the kernel that they would make is legal and saves traffic.
#include "Plan.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace emmy {

static constexpr llvm::StringLiteral kCategory = "emmy-fuse-kernels";
/// Beyond these a merged kernel needs more registers than the traffic it saves is worth.
static constexpr unsigned kMaxOutputs = 4;
static constexpr unsigned kMaxLoads = 24;

namespace {
class Planner {
public:
  Planner(func::FuncOp func, bool separate) : func(func), separate(separate), math(getIndexMath(func)), target(TargetAttr::of(func)) {}
  FusionPlan run();

private:
  using Outputs = SmallVector<Value, 2>;
  struct Kernel {
    unsigned id; // another one after every change
    Outputs outputs;
    std::optional<KernelDag> dag;
    Verdict verdict;
    llvm::SetVector<Value> loads;
  };

  void findRoots();
  void findOperandRoots(graph::ContractOp op);
  void absorbEpilogues();
  void buildKernels();
  void streamContractions();
  bool tryStream(unsigned kernel, graph::ContractOp contract, Value scores);
  void mergeReductions();
  void materialiseShared();
  void mergeSiblings();
  bool trySiblings(unsigned a, unsigned b);

  Kernel build(Outputs outputs, const ValueSet &inMemory);
  ValueSet inMemory() const { return ValueSet(materialised.begin(), materialised.end()); }
  bool isReturned(Value value) { return llvm::is_contained(value.getUsers(), func.getBody().front().getTerminator()); }
  SmallVector<unsigned> findConsumers(Value value) const;
  std::optional<unsigned> findKernel(Value value) const;
  static bool isCyclic(ArrayRef<Value> outputs, const llvm::SetVector<Value> &loads);
  /// Replaces `old` kernels by one; values in `gone` leave memory unless it makes them.
  void commit(ArrayRef<unsigned> old, Kernel kernel, ArrayRef<Value> gone);
  /// The operation that a remark speaks of.
  static remark::detail::LazyTextBuild nameOf(Value value) {
    Operation *op = value.getDefiningOp();
    return remark::add("{0}", op ? op->getName().getStringRef() : StringRef("argument"));
  }
  void accept(Value value, const Twine &why) {
    remark::passed(value.getLoc(), remark::RemarkOpts::name("fused").category(kCategory))
        << nameOf(value) << remark::reason("{0}", why.str());
    ++plan.numMerged;
  }
  void refuse(Value value, const Twine &why) {
    remark::missed(value.getLoc(), remark::RemarkOpts::name("not fused").category(kCategory))
        << nameOf(value) << remark::reason("{0}", why.str());
    ++plan.numKept;
  }

  func::FuncOp func;
  bool separate;
  IndexMath math;
  TargetAttr target;
  llvm::SetVector<Value> materialised;
  std::vector<Kernel> kernels;
  unsigned numBuilt = 0;
  FusionPlan plan;
};
} // namespace

//===----------------------------------------------------------------------===//
// What must be in memory
//===----------------------------------------------------------------------===//

void Planner::findOperandRoots(graph::ContractOp op) {
  for (Value operand : {op.getLhs(), op.getRhs()})
    if (Value base = stripViews(operand, /*expands=*/true); base.getDefiningOp() && materialised.insert(extendViews(math, base)))
      remark::analysis(base.getLoc(), remark::RemarkOpts::name("in memory").category(kCategory))
          << nameOf(base) << remark::reason("a contraction reads it: tensor cores are fed best by plain tensors");
}

void Planner::findRoots() {
  for (Operation &op : func.getBody().front()) {
    auto contract = dyn_cast<graph::ContractOp>(op);
    if ((contract && isProduct(contract)) || op.use_empty())
      continue;
    if (contract)
      findOperandRoots(contract);
    if (isa<graph::ContractOp, graph::ReduceOp, graph::ScatterOp>(op))
      materialised.insert(op.getResult(0));
    if (isa<graph::ScatterOp>(op) && op.getOperand(0).getDefiningOp())
      materialised.insert(op.getOperand(0));
    if (isa<arith::ConstantOp>(op) && !isKernelConstant(&op))
      materialised.insert(op.getResult(0));
  }
  for (Value value : func.getBody().front().getTerminator()->getOperands())
    if (value.getDefiningOp())
      materialised.insert(value);
}

void Planner::absorbEpilogues() {
  llvm::DenseSet<Operation *> taken; // element-wise ops that already follow another anchor
  func.walk([&](Operation *op) {
    if (!isa<graph::ContractOp, graph::ReduceOp>(op) || !materialised.contains(op->getResult(0)))
      return;
    Value anchor = op->getResult(0), last = extendEpilogue(math, anchor, materialised, taken);
    if (last == anchor)
      return;
    for (Value at = anchor; at != last; at = (*at.getUsers().begin())->getResult(0))
      taken.insert(*at.getUsers().begin());
    materialised.remove(anchor);
    materialised.insert(last);
    accept(anchor, "the element-wise work after it runs on its result in registers");
  });
}

//===----------------------------------------------------------------------===//
// Kernels and their relations
//===----------------------------------------------------------------------===//

Planner::Kernel Planner::build(Outputs outputs, const ValueSet &values) {
  Kernel kernel;
  kernel.id = numBuilt++;
  kernel.dag = pullKernel(math, outputs, values);
  kernel.verdict = judge(*kernel.dag, target);
  for (const Node &node : kernel.dag->nodes)
    if (node.kind == NodeKind::Load)
      kernel.loads.insert(node.source);
  for (const Store &store : kernel.dag->stores)
    if (store.tied)
      kernel.loads.insert(store.tied);
  kernel.outputs = std::move(outputs);
  return kernel;
}

void Planner::buildKernels() {
  ValueSet values = inMemory();
  for (Value value : materialised)
    if (!value.getDefiningOp<arith::ConstantOp>() || isKernelConstant(value.getDefiningOp()))
      kernels.push_back(build({value}, values));
}

SmallVector<unsigned> Planner::findConsumers(Value value) const {
  SmallVector<unsigned> consumers;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    if (kernel.loads.contains(value))
      consumers.push_back(i);
  return consumers;
}

std::optional<unsigned> Planner::findKernel(Value value) const {
  for (auto [i, kernel] : llvm::enumerate(kernels))
    if (llvm::is_contained(kernel.outputs, value))
      return i;
  return std::nullopt;
}

/// Whether something that a kernel reads is made from something that it makes.
bool Planner::isCyclic(ArrayRef<Value> outputs, const llvm::SetVector<Value> &loads) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> worklist(loads.begin(), loads.end());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (llvm::is_contained(outputs, value))
      return true;
    if (Operation *op = value.getDefiningOp(); op && seen.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

void Planner::commit(ArrayRef<unsigned> old, Kernel merged, ArrayRef<Value> gone) {
  for (Value value : gone)
    if (!llvm::is_contained(merged.outputs, value))
      materialised.remove(value);
  for (Value value : merged.outputs)
    materialised.insert(value);
  std::vector<Kernel> rest;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    if (!llvm::is_contained(old, unsigned(i)) && !llvm::all_of(kernel.outputs, [&](Value v) { return !materialised.contains(v); }))
      rest.push_back(std::move(kernel));
  rest.push_back(std::move(merged));
  kernels = std::move(rest);
}

//===----------------------------------------------------------------------===//
// Scores that contractions consume
//===----------------------------------------------------------------------===//

/// Tries to make the values in memory behind `scores`, back to the contractions that make them, part of `contract`'s kernel,
/// together with every other kernel that reads them.
bool Planner::tryStream(unsigned kernel, graph::ContractOp contract, Value scores) {
  llvm::SetVector<Value> gone;
  SmallVector<Value> worklist{scores};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (materialised.contains(value))
      gone.insert(value);
    auto product = dyn_cast<graph::ContractOp>(op);
    if (!product || isProduct(product))
      llvm::append_range(worklist, op->getOperands());
  }
  if (gone.empty() || llvm::any_of(gone, [&](Value value) { return isReturned(value); }))
    return false;
  ValueSet values = inMemory();
  // Every kernel that reads one of them comes along, and what only those read need not be in memory either.
  llvm::SetVector<unsigned> merged;
  merged.insert(kernel);
  auto makesOnly = [&](unsigned i, const llvm::SetVector<Value> &set) {
    return llvm::all_of(kernels[i].outputs, [&](Value value) { return set.contains(value); });
  };
  for (unsigned i = 0; i < gone.size(); ++i) {
    for (unsigned consumer : findConsumers(gone[i]))
      if (!makesOnly(consumer, gone))
        merged.insert(consumer);
    for (unsigned reader : SmallVector<unsigned>(merged.getArrayRef()))
      for (Value value : kernels[reader].outputs) {
        SmallVector<unsigned> consumers = findConsumers(value);
        bool staysInside = !consumers.empty() && !isReturned(value) &&
                           llvm::all_of(consumers, [&](unsigned c) { return merged.contains(c) || makesOnly(c, gone); });
        if (staysInside)
          gone.insert(value);
      }
  }
  Outputs outputs;
  for (unsigned i : merged)
    for (Value value : kernels[i].outputs)
      if (!gone.contains(value))
        outputs.push_back(value);
  for (Value value : gone)
    values.erase(value);
  if (outputs.size() > kMaxOutputs)
    return false;
  Kernel trial = build(outputs, values);
  // Without tensor cores that read shared memory themselves, operands pass through registers anyway.
  bool throughRegisters = !target.hasWgmma() || !isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(contract.getLhs().getType()));
  if (trial.verdict.isLegal() && trial.verdict.kind != KernelClass::Streaming && !throughRegisters)
    trial.verdict.reason = "a plain operand in memory feeds the contraction better than one computed on the way";
  if (trial.verdict.isLegal() && isCyclic(trial.outputs, trial.loads))
    trial.verdict.reason = "another kernel stands between its parts";
  if (!trial.verdict.isLegal()) {
    refuse(contract.getResult(), "kept apart from what makes its operand: " + trial.verdict.reason);
    return false;
  }
  accept(contract.getResult(), "scores stay in registers: what makes them streams along the axis that this contraction sums over");
  commit(merged.getArrayRef(), std::move(trial), gone.getArrayRef());
  return true;
}

void Planner::streamContractions() {
  SmallVector<graph::ContractOp> contracts;
  func.walk([&](graph::ContractOp op) { contracts.push_back(op); });
  for (graph::ContractOp contract : llvm::reverse(contracts)) {
    for (Value operand : {contract.getLhs(), contract.getRhs()}) {
      Value base = stripViews(operand, /*expands=*/true);
      if (base.getDefiningOp() && !materialised.contains(base))
        base = extendViews(math, base);
      if (!base.getDefiningOp() || !materialised.contains(base) || contract.getOver().size() != 2)
        continue;
      std::optional<unsigned> kernel;
      for (auto [i, candidate] : llvm::enumerate(kernels))
        for (const Node &node : candidate.dag->nodes)
          if (node.op == contract && candidate.loads.contains(base))
            kernel = i;
      if (kernel && tryStream(*kernel, contract, base))
        break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Reductions and element-wise kernels
//===----------------------------------------------------------------------===//

void Planner::mergeReductions() {
  SmallVector<Value> roots(materialised.begin(), materialised.end());
  // Consumers first: a row's sum must have joined the kernel of the result before the row's maximum has one consumer.
  llvm::stable_sort(roots, [&](Value a, Value b) { return b.getDefiningOp()->isBeforeInBlock(a.getDefiningOp()); });
  for (Value root : roots) {
    std::optional<unsigned> own = findKernel(root);
    if (!own || kernels[*own].verdict.kind != KernelClass::Reduction || kernels[*own].outputs.size() != 1)
      continue;
    SmallVector<unsigned> consumers = findConsumers(root);
    if (consumers.empty())
      continue;
    Outputs outputs;
    for (unsigned i : consumers)
      outputs.append(kernels[i].outputs);
    if (isReturned(root))
      outputs.push_back(root);
    ValueSet values = inMemory();
    values.erase(root);
    if (outputs.size() > kMaxOutputs) {
      refuse(root, "too many kernels read it");
      continue;
    }
    Kernel trial = build(outputs, values);
    if (trial.verdict.isLegal() && trial.verdict.kind != KernelClass::Reduction)
      trial.verdict.reason = "its reader is not a streaming kernel";
    if (trial.verdict.isLegal() && isCyclic(trial.outputs, trial.loads))
      trial.verdict.reason = "another kernel stands between it and its reader";
    if (!trial.verdict.isLegal()) {
      refuse(root, trial.verdict.reason);
      continue;
    }
    accept(root, "its reader works along the same rows, which are read once");
    SmallVector<unsigned> old(consumers);
    old.push_back(*own);
    commit(old, std::move(trial), {root});
  }
}

/// An element-wise value that several kernels compute goes to memory when reading it costs less than making it again.
void Planner::materialiseShared() {
  SmallVector<graph::MapOp> maps;
  func.walk([&](graph::MapOp op) { maps.push_back(op); });
  for (graph::MapOp map : maps) {
    Value value = map.getResult();
    if (materialised.contains(value))
      continue;
    unsigned readers = 0;
    double again = 0, bytes = estimateBytes(math, value);
    for (const Kernel &kernel : kernels) {
      double here = 0;
      bool onAnchor = false;
      for (auto [id, node] : llvm::enumerate(kernel.dag->nodes))
        if (node.op == map) {
          here = std::max(here, estimateLoadBytes(*kernel.dag, id));
          onAnchor |= kernel.verdict.kind == KernelClass::Contraction || kernel.verdict.kind == KernelClass::Streaming;
        }
      readers += here > 0 && !onAnchor;
      again += onAnchor ? 0 : here;
    }
    if (readers < 2 || again <= again / readers + bytes * (readers + 1))
      continue;
    remark::analysis(value.getLoc(), remark::RemarkOpts::name("in memory").category(kCategory))
        << nameOf(value) << remark::reason("{0} kernels use it, and each would read more bytes to make it again", readers);
    materialised.insert(value);
    ValueSet values = inMemory();
    for (Kernel &kernel : kernels)
      if (llvm::any_of(kernel.dag->nodes, [&](const Node &node) { return node.op == map; }))
        kernel = build(kernel.outputs, values);
    kernels.push_back(build({value}, values));
  }
}

bool Planner::trySiblings(unsigned a, unsigned b) {
  const Kernel &first = kernels[a], &second = kernels[b];
  auto isStream = [](const Kernel &kernel) {
    return kernel.verdict.kind == KernelClass::Pointwise || kernel.verdict.kind == KernelClass::Reduction;
  };
  auto isTied = [](const Kernel &kernel) { return llvm::any_of(kernel.dag->stores, [](const Store &s) { return bool(s.tied); }); };
  if (!isStream(first) || !isStream(second) || isTied(first) || isTied(second) ||
      first.outputs.size() + second.outputs.size() > kMaxOutputs)
    return false;
  bool related = llvm::any_of(first.loads, [&](Value v) { return second.loads.contains(v); }) ||
                 llvm::any_of(first.outputs, [&](Value v) { return second.loads.contains(v); }) ||
                 llvm::any_of(second.outputs, [&](Value v) { return first.loads.contains(v); });
  if (!related)
    return false;
  Outputs outputs(first.outputs);
  outputs.append(second.outputs);
  llvm::SetVector<Value> loads(first.loads);
  loads.insert_range(second.loads);
  loads.remove_if([&](Value value) { return llvm::is_contained(outputs, value); });
  if (isCyclic(outputs, loads))
    return false;
  Kernel trial = build(outputs, inMemory());
  // The same walk over memory must serve both: no axis more than the larger has, and fewer loads than both have.
  auto countAxes = [](const Kernel &kernel) {
    llvm::DenseSet<unsigned> used;
    for (const Node &node : kernel.dag->nodes)
      used.insert(node.axes.begin(), node.axes.end());
    for (const Store &store : kernel.dag->stores)
      used.insert(store.over.begin(), store.over.end());
    return used.size();
  };
  auto countLoads = [](const Kernel &kernel) {
    return llvm::count_if(kernel.dag->nodes, [](const Node &node) { return node.kind == NodeKind::Load; });
  };
  bool sameWalk = countAxes(trial) <= std::max(countAxes(first), countAxes(second)) &&
                  countLoads(trial) < countLoads(first) + countLoads(second) && countLoads(trial) <= kMaxLoads;
  if (!trial.verdict.isLegal() || !sameWalk)
    return false;
  accept(first.outputs[0], "another kernel walks over the same elements, which are read once for both");
  commit({a, b}, std::move(trial), {});
  return true;
}

void Planner::mergeSiblings() {
  llvm::DenseSet<std::pair<unsigned, unsigned>> refused;
  bool changed = true;
  while (changed) {
    changed = false;
    for (unsigned a = 0; a < kernels.size() && !changed; ++a)
      for (unsigned b = a + 1; b < kernels.size() && !changed; ++b) {
        std::pair<unsigned, unsigned> pair(kernels[a].id, kernels[b].id);
        if (refused.contains(pair))
          continue;
        changed = trySiblings(a, b);
        if (!changed)
          refused.insert(pair);
      }
  }
}

FusionPlan Planner::run() {
  findRoots();
  absorbEpilogues();
  buildKernels();
  if (!separate) {
    streamContractions();
    mergeReductions();
    materialiseShared();
    mergeSiblings();
  }
  // Kernels in order: each after the ones that make what it reads.
  ValueSet made;
  std::vector<bool> done(kernels.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      bool ready = !done[i] && llvm::all_of(kernel.loads, [&](Value v) { return !findKernel(v) || made.contains(v); });
      if (!ready)
        continue;
      done[i] = changed = true;
      made.insert(kernel.outputs.begin(), kernel.outputs.end());
      plan.kernels.push_back({kernel.outputs, *kernel.dag, kernel.verdict.kind});
    }
  }
  return std::move(plan);
}

FusionPlan planFusion(func::FuncOp func, bool separate) { return Planner(func, separate).run(); }

} // namespace emmy
