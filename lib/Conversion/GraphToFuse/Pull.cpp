// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One case for each primitive: from (tensor, index expressions) to a node of the kernel.
#include "Pull.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace emmy {

using Index = SmallVector<AffineExpr>;
static constexpr int64_t kMaxConstantElements = 64;

SmallVector<AffineExpr> sizesOf(Value value) { return getSizes(cast<RankedTensorType>(value.getType())); }

AffineExpr countElements(Value value) {
  AffineExpr count = getAffineConstantExpr(1, value.getContext());
  for (AffineExpr size : sizesOf(value))
    count = count * size;
  return count;
}

static bool isOne(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant && constant.getValue() == 1;
}

bool isPlain(ArrayRef<AffineExpr> exprs) {
  bool plain = true;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) { plain &= e.getKind() != AffineExprKind::FloorDiv && e.getKind() != AffineExprKind::Mod; });
  return plain;
}

bool isProduct(graph::ContractOp op) {
  SmallVector<AffineExpr> sizes = sizesOf(op.getLhs());
  for (unsigned i = 0; i < op.getOver().size(); i += 2)
    if (!isOne(sizes[op.getOver()[i]]))
      return false;
  return true;
}

bool isKernelConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && (elements.isSplat() || elements.getNumElements() <= kMaxConstantElements);
}

Value stripViews(Value value, bool expands) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<graph::ReshapeOp, graph::PermuteOp>(op) && !(expands && isa<graph::ExpandOp, graph::SliceOp>(op)))
      break;
    value = op->getOperand(0);
  }
  return value;
}

SmallVector<AffineExpr> pushIndex(const IndexMath &math, Operation *view, ArrayRef<AffineExpr> index) {
  if (isa<graph::ReshapeOp>(view))
    return math.reshape(index, sizesOf(view->getOperand(0)), sizesOf(view->getResult(0)));
  Index result;
  for (int64_t dim : cast<graph::PermuteOp>(view).getDims())
    result.push_back(index[dim]);
  return result;
}

//===----------------------------------------------------------------------===//
// How dimensions split into axes
//===----------------------------------------------------------------------===//

/// Sizes of the axes that dimension `dim` of `value` is best made of, so that the nearest reshape behind it is addressing by
/// whole axes; looks through what keeps dimensions apart, up to `materialised`.
static SmallVector<AffineExpr> splitDim(const IndexMath &math, Value value, unsigned dim, const ValueSet &materialised) {
  SmallVector<AffineExpr> whole{sizesOf(value)[dim]};
  Operation *op = value.getDefiningOp();
  if (!op || materialised.contains(value) || isOne(whole[0]))
    return whole;
  auto recurse = [&](Value operand, unsigned operandDim) { return splitDim(math, operand, operandDim, materialised); };
  return TypeSwitch<Operation *, SmallVector<AffineExpr>>(op)
      .Case([&](graph::MapOp map) {
        for (Value input : map.getInputs()) {
          SmallVector<AffineExpr> sizes = sizesOf(input);
          int64_t operandDim = int64_t(dim) - (sizesOf(value).size() - sizes.size());
          if (operandDim < 0 || sizes[operandDim] != whole[0])
            continue;
          if (SmallVector<AffineExpr> pieces = recurse(input, operandDim); pieces.size() > 1)
            return pieces;
        }
        return whole;
      })
      .Case([&](graph::ReshapeOp reshape) {
        // Repetition joined with heads (grouped queries) stays one axis: the repeated piece is not in memory.
        if (reshape.getInput().getDefiningOp<graph::ExpandOp>())
          return whole;
        return math.refine(sizesOf(value), dim, sizesOf(reshape.getInput()));
      })
      .Case([&](graph::PermuteOp permute) { return recurse(permute.getInput(), permute.getDims()[dim]); })
      .Case([&](graph::ReduceOp reduce) {
        unsigned operandDim = 0;
        for (unsigned kept = 0;; ++operandDim)
          if (!llvm::is_contained(reduce.getDims(), int64_t(operandDim)) && kept++ == dim)
            break;
        return recurse(reduce.getInput(), operandDim);
      })
      .Case([&](graph::ContractOp contract) {
        // Batch dimensions, then those of lhs, then those of rhs.
        unsigned position = 0;
        for (unsigned i = 0; i < contract.getBatch().size(); i += 2)
          if (position++ == dim) {
            SmallVector<AffineExpr> pieces = recurse(contract.getLhs(), contract.getBatch()[i]);
            return pieces.size() > 1 ? pieces : recurse(contract.getRhs(), contract.getBatch()[i + 1]);
          }
        for (bool right : {false, true}) {
          Value operand = right ? contract.getRhs() : contract.getLhs();
          for (int64_t i = 0, rank = sizesOf(operand).size(); i < rank; ++i) {
            auto isPaired = [&](ArrayRef<int64_t> pairs) {
              for (unsigned j = right; j < pairs.size(); j += 2)
                if (pairs[j] == i)
                  return true;
              return false;
            };
            if (!isPaired(contract.getBatch()) && !isPaired(contract.getOver()) && position++ == dim)
              return recurse(operand, i);
          }
        }
        return whole;
      })
      .Default([&](Operation *) { return whole; });
}

//===----------------------------------------------------------------------===//
// Pulling
//===----------------------------------------------------------------------===//

namespace {
class Puller {
public:
  Puller(KernelDag &dag, const ValueSet &materialised) : dag(dag), materialised(materialised) {}

  unsigned pull(Value value, Index index, bool guarded);
  /// An index made of new axes for a dimension; `axes` collects them.
  AffineExpr addAxes(Value value, unsigned dim, bool isOutput, SmallVectorImpl<unsigned> &axes);

private:
  unsigned load(Value value, const Index &index, bool guarded);
  unsigned compute(Value value, const Index &index, bool guarded);
  unsigned element(AffineExpr expr); // an index expression as an i64 element
  unsigned select(AffineExpr below, unsigned ifBelow, unsigned otherwise);
  AffineExpr pullIndirect(Value indices, const Index &index, AffineExpr size, bool guarded);
  Index broadcastIndex(Value operand, const Index &index);
  unsigned pullConcat(graph::ConcatOp op, const Index &index, bool guarded);
  unsigned pullPad(graph::PadOp op, const Index &index, bool guarded);
  unsigned pullReduce(graph::ReduceOp op, const Index &index, bool guarded);
  unsigned pullContract(graph::ContractOp op, const Index &index, bool guarded);
  unsigned pullConstant(arith::ConstantOp op, const Index &index);

  KernelDag &dag;
  const ValueSet &materialised;
  std::map<std::vector<const void *>, unsigned> memo;
};
} // namespace

AffineExpr Puller::addAxes(Value value, unsigned dim, bool isOutput, SmallVectorImpl<unsigned> &axes) {
  AffineExpr index = dag.math.getConstant(0);
  for (AffineExpr size : splitDim(dag.math, value, dim, materialised)) {
    if (isOutput && isOne(size))
      continue;
    axes.push_back(dag.addAxis(size, isOutput));
    index = index * size + getAffineDimExpr(axes.back(), dag.math.getContext());
  }
  return dag.math.simplify(index);
}

unsigned Puller::pull(Value value, Index index, bool guarded) {
  bool inside = true;
  for (auto [expr, size] : llvm::zip(index, sizesOf(value))) {
    expr = isOne(size) ? dag.math.getConstant(0) : dag.math.simplify(expr);
    inside = inside && (!guarded || dag.math.isWithin(expr, size));
  }
  guarded = guarded && !inside;
  std::vector<const void *> key{value.getAsOpaquePointer(), guarded ? &memo : nullptr};
  for (AffineExpr expr : index)
    key.push_back(expr.getAsOpaquePointer());
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  bool inMemory = isa<BlockArgument>(value) || materialised.contains(value);
  return memo[key] = inMemory ? load(value, index, guarded) : compute(value, index, guarded);
}

unsigned Puller::load(Value value, const Index &index, bool guarded) {
  Node node{NodeKind::Load};
  node.guarded = guarded;
  node.source = value;
  node.element = getElementTypeOrSelf(value.getType());
  node.exprs.assign(index.begin(), index.end());
  return dag.add(std::move(node));
}

/// Aligned at the last dimension, 0 where the operand repeats.
Index Puller::broadcastIndex(Value operand, const Index &index) {
  SmallVector<AffineExpr> sizes = sizesOf(operand);
  Index result(index.end() - sizes.size(), index.end());
  for (auto [expr, size] : llvm::zip(result, sizes))
    if (isOne(size))
      expr = dag.math.getConstant(0);
  return result;
}

unsigned Puller::compute(Value value, const Index &index, bool guarded) {
  return TypeSwitch<Operation *, unsigned>(value.getDefiningOp())
      .Case([&](graph::MapOp op) {
        Node node{NodeKind::Map, MapBody::Graph};
        node.op = op;
        node.element = getElementTypeOrSelf(op.getType());
        for (Value input : op.getInputs())
          node.operands.push_back(pull(input, broadcastIndex(input, index), guarded));
        return dag.add(std::move(node));
      })
      .Case([&](graph::ReshapeOp op) {
        return pull(op.getInput(), dag.math.reshape(index, sizesOf(value), sizesOf(op.getInput())), guarded);
      })
      .Case([&](graph::PermuteOp op) {
        Index inner(index.size());
        for (auto [i, dim] : llvm::enumerate(op.getDims()))
          inner[dim] = index[i];
        return pull(op.getInput(), inner, guarded);
      })
      .Case([&](graph::ExpandOp op) { return pull(op.getInput(), broadcastIndex(op.getInput(), index), guarded); })
      .Case([&](graph::SliceOp op) {
        Index inner;
        for (auto [expr, start, step] : llvm::zip(index, op.getStarts().getSizes(), op.getSteps()))
          inner.push_back(start + expr * step);
        return pull(op.getInput(), inner, guarded);
      })
      .Case([&](graph::TakeOp op) {
        unsigned rank = sizesOf(op.getIndices()).size();
        Index inner(index.begin(), index.begin() + op.getDim());
        Index at(index.begin() + op.getDim(), index.begin() + op.getDim() + rank);
        inner.push_back(pullIndirect(op.getIndices(), at, sizesOf(op.getInput())[op.getDim()], guarded));
        inner.append(index.begin() + op.getDim() + rank, index.end());
        return pull(op.getInput(), inner, guarded);
      })
      .Case([&](graph::GatherOp op) {
        Index inner(index);
        inner[op.getDim()] = pullIndirect(op.getIndices(), index, sizesOf(op.getInput())[op.getDim()], guarded);
        return pull(op.getInput(), inner, guarded);
      })
      .Case([&](graph::IotaOp op) { return element(index[op.getDim()]); })
      .Case([&](graph::SizeOp op) { return element(op.getExpr().getSizes()[0]); })
      .Case([&](graph::ConcatOp op) { return pullConcat(op, index, guarded); })
      .Case([&](graph::PadOp op) { return pullPad(op, index, guarded); })
      .Case([&](graph::ReduceOp op) { return pullReduce(op, index, guarded); })
      .Case([&](graph::ContractOp op) { return pullContract(op, index, guarded); })
      .Case([&](arith::ConstantOp op) { return pullConstant(op, index); });
}

unsigned Puller::element(AffineExpr expr) {
  expr = dag.math.simplify(expr);
  SmallVector<unsigned> axes, behind;
  dag.collectDims(expr, axes, behind);
  Node node{NodeKind::Index};
  node.element = IntegerType::get(expr.getContext(), 64);
  node.exprs.push_back(expr);
  if (behind.empty())
    return dag.add(node);
  // Arithmetic on loaded indices: dimension j of the map's expression is operand j.
  node.kind = NodeKind::Map;
  node.body = MapBody::Affine;
  llvm::DenseMap<AffineExpr, AffineExpr> replacements;
  auto addOperand = [&](AffineExpr dim, unsigned operand) {
    replacements[dim] = getAffineDimExpr(node.operands.size(), expr.getContext());
    node.operands.push_back(operand);
  };
  for (unsigned axis : axes)
    addOperand(getAffineDimExpr(axis, expr.getContext()), element(getAffineDimExpr(axis, expr.getContext())));
  for (unsigned operand : behind)
    addOperand(dag.getIndirect(operand), operand);
  expr.walk([&](AffineExpr e) {
    if (isa<AffineSymbolExpr>(e) && !replacements.contains(e))
      addOperand(e, element(e));
  });
  if (expr == dag.getIndirect(behind[0]))
    return behind[0];
  node.exprs[0] = expr.replace(replacements);
  return dag.add(node);
}

unsigned Puller::select(AffineExpr below, unsigned ifBelow, unsigned otherwise) {
  Node node{NodeKind::Map, MapBody::SelectBelow};
  node.element = dag.nodes[ifBelow].element;
  node.operands = {element(below), ifBelow, otherwise};
  return dag.add(std::move(node));
}

AffineExpr Puller::pullIndirect(Value indices, const Index &index, AffineExpr size, bool guarded) {
  unsigned loaded = pull(indices, index, guarded);
  if (dag.nodes[loaded].kind == NodeKind::Index) // computed from axes: an ordinary index
    return dag.nodes[loaded].exprs[0];
  Node wrap{NodeKind::Map, MapBody::WrapIndex};
  wrap.element = dag.nodes[loaded].element;
  wrap.operands = {loaded, element(size)};
  return dag.getIndirect(dag.add(std::move(wrap)));
}

unsigned Puller::pullConcat(graph::ConcatOp op, const Index &index, bool guarded) {
  AffineExpr at = index[op.getDim()], start = dag.math.getConstant(0);
  struct Piece {
    Value value;
    AffineExpr start, size;
  };
  SmallVector<Piece> pieces;
  for (Value input : op.getInputs()) {
    AffineExpr size = sizesOf(input)[op.getDim()];
    if (size != dag.math.getConstant(0))
      pieces.push_back({input, start, size});
    start = dag.math.simplify(start + size);
  }
  auto pullPiece = [&](const Piece &piece, bool guard) {
    Index inner(index);
    inner[op.getDim()] = at - piece.start;
    return pull(piece.value, inner, guard);
  };
  for (const Piece &piece : pieces)
    if (pieces.size() == 1 || dag.math.isWithin(at - piece.start, piece.size))
      return pullPiece(piece, guarded);
  if (pieces.empty())
    return pull(op.getInputs()[0], index, /*guarded=*/true);
  unsigned result = pullPiece(pieces.back(), true);
  for (const Piece &piece : llvm::reverse(ArrayRef(pieces).drop_back()))
    result = select(at - piece.start - piece.size, pullPiece(piece, true), result);
  return result;
}

unsigned Puller::pullPad(graph::PadOp op, const Index &index, bool guarded) {
  Index inner(index);
  SmallVector<AffineExpr> sizes = sizesOf(op.getInput());
  bool outside = false;
  for (auto [expr, low, size] : llvm::zip(inner, op.getLow(), sizes)) {
    expr = expr - low;
    outside |= !dag.math.isWithin(expr, size);
  }
  unsigned result = pull(op.getInput(), inner, guarded || outside);
  if (!outside)
    return result;
  unsigned padding = pull(op.getValue(), {}, guarded);
  for (auto [expr, low, size] : llvm::zip(inner, op.getLow(), sizes)) {
    if (dag.math.isWithin(expr, size))
      continue;
    result = select(expr - size, result, padding);
    if (low > 0)
      result = select(expr, padding, result);
  }
  return result;
}

unsigned Puller::pullReduce(graph::ReduceOp op, const Index &index, bool guarded) {
  Node node{NodeKind::Reduce};
  node.op = op;
  node.element = getElementTypeOrSelf(op.getType());
  Index inner;
  SmallVector<unsigned> over;
  const auto *kept = index.begin();
  for (unsigned dim = 0, rank = sizesOf(op.getInput()).size(); dim < rank; ++dim)
    inner.push_back(llvm::is_contained(op.getDims(), int64_t(dim)) ? addAxes(op.getInput(), dim, false, over) : *kept++);
  if (over.empty()) // reducing along no dimension is converting to the type of accumulation
    over.push_back(dag.addAxis(dag.math.getConstant(1)));
  node.operands = {dag.broadcast(pull(op.getInput(), inner, guarded), over)};
  node.over.assign(over.begin(), over.end());
  return dag.add(std::move(node));
}

unsigned Puller::pullContract(graph::ContractOp op, const Index &index, bool guarded) {
  Node node{NodeKind::Contract};
  node.op = op;
  node.element = getElementTypeOrSelf(op.getType());
  Index lhs(sizesOf(op.getLhs()).size()), rhs(sizesOf(op.getRhs()).size());
  SmallVector<unsigned> over;
  const auto *kept = index.begin();
  for (unsigned i = 0; i < op.getBatch().size(); i += 2)
    lhs[op.getBatch()[i]] = rhs[op.getBatch()[i + 1]] = *kept++;
  bool product = isProduct(op);
  for (unsigned i = 0; i < op.getOver().size(); i += 2)
    lhs[op.getOver()[i]] = rhs[op.getOver()[i + 1]] =
        product ? dag.math.getConstant(0) : addAxes(op.getLhs(), op.getOver()[i], false, over);
  for (Index *side : {&lhs, &rhs})
    for (AffineExpr &expr : *side)
      if (!expr)
        expr = *kept++;
  unsigned left = pull(op.getLhs(), lhs, guarded), right = pull(op.getRhs(), rhs, guarded);
  if (product) {
    node.kind = NodeKind::Map;
    node.body = MapBody::Product;
  }
  node.operands = {dag.broadcast(left, over), dag.broadcast(right, over)};
  node.over.assign(over.begin(), over.end());
  return dag.add(std::move(node));
}

unsigned Puller::pullConstant(arith::ConstantOp op, const Index &index) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  auto constant = [&](Attribute value) {
    Node node{NodeKind::Map, MapBody::Constant};
    node.element = elements.getElementType();
    node.constant = value;
    return dag.add(std::move(node));
  };
  if (elements.isSplat())
    return constant(elements.getSplatValue<Attribute>());
  if (elements.getNumElements() == 0)
    return constant(Builder(op).getZeroAttr(elements.getElementType()));
  AffineExpr flat = dag.math.getConstant(0);
  for (auto [expr, size] : llvm::zip(index, sizesOf(op.getResult())))
    flat = flat * size + expr;
  SmallVector<Attribute> values(elements.getValues<Attribute>());
  unsigned result = constant(values.back());
  for (unsigned i = values.size() - 1; i-- > 0;)
    result = select(flat - (i + 1), constant(values[i]), result);
  return result;
}

//===----------------------------------------------------------------------===//
// Whole kernels
//===----------------------------------------------------------------------===//

/// Stores through the views that end in `output` where that keeps the addresses plain, else directly.
static void pullOutput(KernelDag &dag, Puller &puller, Value output, const ValueSet &materialised) {
  SmallVector<Operation *> views;
  Value made = output;
  while (Operation *op = made.getDefiningOp()) {
    if (!isa<graph::ReshapeOp, graph::PermuteOp>(op) || materialised.contains(made))
      break;
    views.push_back(op);
    made = op->getOperand(0);
  }
  if (isa<BlockArgument>(made) || materialised.contains(made))
    views.clear();
  for (Value target : {views.empty() ? output : made, output}) {
    SmallVector<unsigned> axes;
    Index index;
    unsigned before = dag.axes.size();
    for (unsigned dim = 0, rank = sizesOf(target).size(); dim < rank; ++dim)
      index.push_back(puller.addAxes(target, dim, true, axes));
    Index at(index);
    if (target != output)
      for (Operation *view : llvm::reverse(views))
        at = pushIndex(dag.math, view, at);
    if (target != output && !isPlain(at)) {
      for (unsigned axis = before; axis < dag.axes.size(); ++axis)
        dag.axes[axis].isOutput = false; // left unused
      continue;
    }
    Store store{output};
    store.node = puller.pull(target, index, false);
    store.at.assign(at.begin(), at.end());
    store.over.assign(axes.begin(), axes.end());
    dag.stores.push_back(std::move(store));
    return;
  }
}

static void pullScatter(KernelDag &dag, Puller &puller, graph::ScatterOp op) {
  SmallVector<unsigned> axes;
  Index index;
  for (unsigned dim = 0, rank = sizesOf(op.getUpdates()).size(); dim < rank; ++dim)
    index.push_back(puller.addAxes(op.getUpdates(), dim, true, axes));
  Store store{op.getResult()};
  store.tied = op.getInput();
  store.node = puller.pull(op.getUpdates(), index, false);
  store.at.assign(index.begin(), index.end());
  store.at[op.getDim()] = dag.getIndirect(puller.pull(op.getIndices(), {index[op.getDim()]}, false));
  store.over.assign(axes.begin(), axes.end());
  dag.stores.push_back(std::move(store));
}

KernelDag pullKernel(const IndexMath &math, ArrayRef<Value> outputs, const ValueSet &materialised) {
  ValueSet readable = materialised;
  for (Value output : outputs)
    readable.erase(output);
  KernelDag dag(math);
  Puller puller(dag, readable);
  for (Value output : outputs) {
    if (auto scatter = output.getDefiningOp<graph::ScatterOp>())
      pullScatter(dag, puller, scatter);
    else
      pullOutput(dag, puller, output, readable);
  }
  dag.unifyAxes();
  return dag;
}

} // namespace emmy
