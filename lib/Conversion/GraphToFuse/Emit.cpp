// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Writes kernels and launches; decides nothing but the order of arguments and axes.
#include "Emit.h"

using namespace mlir;

namespace emmy {

namespace {
class KernelEmitter {
public:
  KernelEmitter(OpBuilder &builder, const PlannedKernel &kernel, std::string name)
      : builder(builder), dag(kernel.dag), kernel(kernel), name(std::move(name)) {}
  fuse::KernelOp emit();
  /// What the launch passes, in order.
  SmallVector<Value> inputs;

private:
  void orderAxes();
  void collectInputs();
  ArrayAttr makeArgAttrs(unsigned outputs);
  Value emitNode(const Node &node);
  Value emitMap(const Node &node, Location loc, fuse::ValueType type);
  Value emitBody(const Node &node, Block &block);
  Value emitAffine(AffineExpr expr, Block &block);
  void emitStore(const Store &store, Value target);
  SmallVector<StringAttr> toNames(ArrayRef<unsigned> axes) const;
  ArrayAttr toArray(ArrayRef<unsigned> axes) const;
  /// A map from the named axes, then indirect nodes in order, to `exprs`.
  AffineMap toMap(ArrayRef<AffineExpr> exprs, ArrayRef<unsigned> over, ArrayRef<unsigned> behind) const;

  OpBuilder &builder;
  const KernelDag &dag;
  const PlannedKernel &kernel;
  std::string name;
  SmallVector<unsigned> order;          // axes in the kernel's order
  SmallVector<std::string> axisNames;   // by axis
  SmallVector<Value> values;            // by node
  llvm::DenseMap<Value, Value> argument; // by graph value
};
} // namespace

void KernelEmitter::orderAxes() {
  axisNames = nameAxes(kernel);
  llvm::SetVector<unsigned> ordered;
  for (const Store &store : dag.stores)
    ordered.insert(store.over.begin(), store.over.end());
  for (const Node &node : llvm::reverse(dag.nodes)) // what is summed last is the outer loop of what is summed before
    ordered.insert(node.over.begin(), node.over.end());
  for (const Node &node : dag.nodes)
    ordered.insert(node.axes.begin(), node.axes.end());
  order = ordered.takeVector();
}

SmallVector<StringAttr> KernelEmitter::toNames(ArrayRef<unsigned> axes) const {
  SmallVector<StringAttr> names;
  for (unsigned axis : order)
    if (llvm::is_contained(axes, axis))
      names.push_back(builder.getStringAttr(axisNames[axis]));
  return names;
}

ArrayAttr KernelEmitter::toArray(ArrayRef<unsigned> axes) const {
  SmallVector<StringAttr> names = toNames(axes);
  return builder.getArrayAttr(SmallVector<Attribute>(names.begin(), names.end()));
}

AffineMap KernelEmitter::toMap(ArrayRef<AffineExpr> exprs, ArrayRef<unsigned> over, ArrayRef<unsigned> behind) const {
  llvm::DenseMap<AffineExpr, AffineExpr> replacements;
  unsigned dims = 0, symbols = 0;
  for (unsigned axis : order)
    if (llvm::is_contained(over, axis))
      replacements[builder.getAffineDimExpr(axis)] = builder.getAffineDimExpr(dims++);
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
      auto dim = dyn_cast<AffineDimExpr>(e);
      if (!dim || dim.getPosition() < kIndirectBase)
        return;
      const auto *position = llvm::find(behind, dag.getNodeBehind(dim));
      replacements[e] = builder.getAffineDimExpr(dims + (position - behind.begin()));
    });
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : exprs)
    results.push_back(expr.replace(replacements));
  return AffineMap::get(dims + behind.size(), symbols, results, builder.getContext());
}

void KernelEmitter::collectInputs() {
  llvm::SetVector<Value> sources;
  for (const Node &node : dag.nodes)
    if (node.kind == NodeKind::Load)
      sources.insert(node.source);
  for (const Store &store : dag.stores)
    if (store.tied)
      sources.insert(store.tied);
  inputs.assign(sources.begin(), sources.end());
}

/// Layouts of the host function's arguments; what kernels make is contiguous.
ArrayAttr KernelEmitter::makeArgAttrs(unsigned outputs) {
  SmallVector<Attribute> attrs;
  bool any = false;
  for (Value input : inputs) {
    Attribute layout;
    if (auto arg = dyn_cast<BlockArgument>(input))
      layout = cast<func::FuncOp>(arg.getOwner()->getParentOp()).getArgAttr(arg.getArgNumber(), kLayoutAttr);
    any |= bool(layout);
    attrs.push_back(layout ? builder.getDictionaryAttr(builder.getNamedAttr(kLayoutAttr, layout)) : builder.getDictionaryAttr({}));
  }
  attrs.append(outputs, builder.getDictionaryAttr({}));
  return any ? builder.getArrayAttr(attrs) : ArrayAttr();
}

fuse::KernelOp KernelEmitter::emit() {
  orderAxes();
  collectInputs();
  SmallVector<Attribute> axes;
  for (unsigned axis : order)
    axes.push_back(fuse::AxisAttr::get(builder.getContext(), builder.getStringAttr(axisNames[axis]), dag.axes[axis].size));
  Location loc = kernel.outputs.front().getLoc();
  auto op = fuse::KernelOp::create(builder, loc, builder.getStringAttr(name), builder.getI64IntegerAttr(inputs.size()),
                                   builder.getArrayAttr(axes), makeArgAttrs(dag.stores.size()));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value input : inputs)
    argument[input] = block->addArgument(input.getType(), input.getLoc());
  for (const Store &store : dag.stores)
    block->addArgument(store.value.getType(), store.value.getLoc());
  values.resize(dag.nodes.size());
  for (auto [id, node] : llvm::enumerate(dag.nodes))
    values[id] = emitNode(node);
  for (auto [i, store] : llvm::enumerate(dag.stores))
    emitStore(store, op.getOutputs()[i]);
  return op;
}

Value KernelEmitter::emitNode(const Node &node) {
  Location loc = node.op ? node.op->getLoc() : kernel.outputs.front().getLoc();
  auto type = fuse::ValueType::get(builder.getContext(), toNames(node.axes), node.element);
  switch (node.kind) {
  case NodeKind::Load: {
    SmallVector<Value> indices;
    for (unsigned operand : node.operands)
      indices.push_back(values[operand]);
    return fuse::LoadOp::create(builder, loc, type, argument.at(node.source), indices, toMap(node.exprs, node.axes, node.operands),
                                node.guarded);
  }
  case NodeKind::Index:
    return fuse::IndexOp::create(builder, loc, type, toMap(node.exprs, node.axes, {}));
  case NodeKind::Map:
    return emitMap(node, loc, type);
  case NodeKind::Reduce: {
    auto kind = fuse::Combiner(int(cast<graph::ReduceOp>(node.op).getKind()));
    return fuse::ReduceOp::create(builder, loc, type, kind, values[node.operands[0]], toArray(node.over));
  }
  case NodeKind::Contract:
    return fuse::ContractOp::create(builder, loc, type, values[node.operands[0]], values[node.operands[1]], toArray(node.over));
  }
  llvm_unreachable("all kinds are handled");
}

Value KernelEmitter::emitMap(const Node &node, Location loc, fuse::ValueType type) {
  SmallVector<Value> operands;
  for (unsigned operand : node.operands)
    operands.push_back(values[operand]);
  auto map = fuse::MapOp::create(builder, loc, type, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&map.getBody());
  for (Value operand : operands)
    block->addArgument(cast<fuse::ValueType>(operand.getType()).getElementType(), loc);
  Value result = emitBody(node, *block);
  fuse::YieldOp::create(builder, loc, result);
  return map;
}

Value KernelEmitter::emitBody(const Node &node, Block &block) {
  Location loc = node.op ? node.op->getLoc() : kernel.outputs.front().getLoc();
  auto zero = [&](Type type) { return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0)); };
  switch (node.body) {
  case MapBody::Graph: {
    Block &source = cast<graph::MapOp>(node.op).getBody().front();
    IRMapping mapping;
    mapping.map(source.getArguments(), block.getArguments());
    for (Operation &op : source.without_terminator())
      builder.clone(op, mapping);
    return mapping.lookupOrDefault(source.getTerminator()->getOperand(0));
  }
  case MapBody::Constant:
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(node.constant));
  case MapBody::Broadcast:
    return block.getArgument(0);
  case MapBody::SelectBelow: {
    Value index = block.getArgument(0);
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, zero(index.getType()));
    return arith::SelectOp::create(builder, loc, below, block.getArgument(1), block.getArgument(2));
  }
  case MapBody::WrapIndex: {
    Value index = block.getArgument(0), size = block.getArgument(1);
    if (index.getType() != size.getType())
      size = arith::TruncIOp::create(builder, loc, index.getType(), size);
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, zero(index.getType()));
    Value wrapped = arith::AddIOp::create(builder, loc, index, size);
    return arith::SelectOp::create(builder, loc, below, wrapped, index);
  }
  case MapBody::Product: {
    auto convert = [&](Value value) -> Value {
      if (value.getType() == node.element)
        return value;
      return isa<FloatType>(node.element) ? arith::ExtFOp::create(builder, loc, node.element, value).getResult()
                                          : arith::ExtSIOp::create(builder, loc, node.element, value).getResult();
    };
    Value lhs = convert(block.getArgument(0)), rhs = convert(block.getArgument(1));
    return isa<FloatType>(node.element) ? arith::MulFOp::create(builder, loc, lhs, rhs).getResult()
                                        : arith::MulIOp::create(builder, loc, lhs, rhs).getResult();
  }
  case MapBody::Affine:
    return emitAffine(node.exprs[0], block);
  }
  llvm_unreachable("all bodies are handled");
}

Value KernelEmitter::emitAffine(AffineExpr expr, Block &block) {
  Location loc = kernel.outputs.front().getLoc();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(constant.getValue()));
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value value = block.getArgument(dim.getPosition());
    return value.getType().isInteger(64) ? value : arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value).getResult();
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emitAffine(binary.getLHS(), block), rhs = emitAffine(binary.getRHS(), block);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  default: { // mod: lhs - floordiv * rhs, which is never negative
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
  }
  }
}

void KernelEmitter::emitStore(const Store &store, Value target) {
  SmallVector<unsigned> axes, behind;
  dag.collectDims(store.at, axes, behind);
  SmallVector<Value> indices;
  for (unsigned node : behind)
    indices.push_back(values[node]);
  fuse::StoreOp::create(builder, store.value.getLoc(), values[store.node], target, indices, toArray(store.over),
                        toMap(store.at, store.over, behind), /*guarded=*/false);
}

//===----------------------------------------------------------------------===//
// The host function
//===----------------------------------------------------------------------===//

namespace {
class HostEmitter {
public:
  HostEmitter(func::FuncOp func) : func(func), kernels(func), launches(func.getBody().front().getTerminator()) {
    for (auto symbol : func->getParentOfType<ModuleOp>().getOps<SymbolOpInterface>())
      taken.insert(symbol.getName());
  }
  void launch(const PlannedKernel &kernel);
  void finish();

private:
  Value lookup(Value value) const { return made.lookup(value) ? made.lookup(value) : value; }
  std::string uniqueName(const PlannedKernel &kernel);
  Value copyBuffer(const PlannedKernel &scatter, Value source);

  func::FuncOp func;
  OpBuilder kernels, launches;
  llvm::StringSet<> taken;
  llvm::DenseMap<Value, Value> made;
};
} // namespace

std::string HostEmitter::uniqueName(const PlannedKernel &kernel) {
  std::string base = nameKernel(kernel), name = base;
  for (unsigned i = 1; !taken.insert(name).second; ++i)
    name = base + "_" + std::to_string(i);
  return name;
}

/// A copy that a scatter may write over.
Value HostEmitter::copyBuffer(const PlannedKernel &scatter, Value source) {
  KernelDag dag(IndexMath(func.getContext()));
  Store store{source};
  Node load{NodeKind::Load};
  load.source = source;
  load.element = getElementTypeOrSelf(source.getType());
  for (AffineExpr size : sizesOf(source)) {
    store.over.push_back(dag.addAxis(size, true));
    load.exprs.push_back(getAffineDimExpr(store.over.back(), func.getContext()));
  }
  store.at = load.exprs;
  store.node = dag.add(load);
  dag.stores.push_back(store);
  PlannedKernel copy{{source}, dag, KernelClass::Pointwise};
  std::string name = uniqueName(copy);
  KernelEmitter emitter(kernels, copy, name);
  emitter.emit();
  return LaunchOp::create(launches, source.getLoc(), TypeRange{source.getType()}, name, lookup(source), nullptr)->getResult(0);
}

void HostEmitter::launch(const PlannedKernel &kernel) {
  KernelEmitter emitter(kernels, kernel, uniqueName(kernel));
  fuse::KernelOp op = emitter.emit();
  SmallVector<Value> operands;
  SmallVector<int64_t> tied;
  for (Value input : emitter.inputs)
    operands.push_back(lookup(input));
  for (auto [result, store] : llvm::enumerate(kernel.dag.stores)) {
    if (!store.tied)
      continue;
    int64_t operand = llvm::find(emitter.inputs, store.tied) - emitter.inputs.begin();
    auto arg = dyn_cast<BlockArgument>(store.tied);
    bool mayOverwrite = store.tied.hasOneUse() && (!arg || func.getArgAttr(arg.getArgNumber(), "emmy.mutable"));
    if (!mayOverwrite)
      operands[operand] = copyBuffer(kernel, store.tied);
    tied.append({int64_t(result), operand});
  }
  SmallVector<Type> types;
  for (Value output : kernel.outputs)
    types.push_back(output.getType());
  auto call = LaunchOp::create(launches, op.getLoc(), types, op.getSymName(), operands,
                               tied.empty() ? DenseI64ArrayAttr() : launches.getDenseI64ArrayAttr(tied));
  for (auto [output, result] : llvm::zip(kernel.outputs, call.getResults()))
    made[output] = result;
}

void HostEmitter::finish() {
  Block &block = func.getBody().front();
  for (OpOperand &operand : block.getTerminator()->getOpOperands())
    operand.set(lookup(operand.get()));
  SmallVector<Operation *> ops(llvm::make_pointer_range(block.without_terminator()));
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && !isa<LaunchOp>(op))
      op->erase();
}

void emitKernels(func::FuncOp func, const FusionPlan &plan) {
  HostEmitter emitter(func);
  for (const PlannedKernel &kernel : plan.kernels)
    emitter.launch(kernel);
  emitter.finish();
}

} // namespace emmy
