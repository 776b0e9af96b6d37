// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: kernels. Out: the same kernels in fewer and plainer ops: arithmetic on indices is affine in emmy_fuse.index, and comparisons of
// indices are of one affine expression with a constant, which scheduling reads as bounds; a map moves into its only user over the
// same axes, predicates on indices into every user; constants, repeated and unused operands go. Numerics are kept.
#include "dialects/Fuse/Fuse.h"
#include "emmy/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "emmy-simplify-kernels"

using namespace mlir;

namespace emmy::fuse {
#define GEN_PASS_DEF_SIMPLIFYKERNELSPASS
#include "emmy/Fuse/Passes.h.inc"

static ValueType typeOf(Value value) { return cast<ValueType>(value.getType()); }

/// The union of the axes of a map's operands without operand `skipped`.
static bool keepsAxesWithout(MapOp map, unsigned skipped) {
  SmallVector<StringAttr> axes;
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    if (i != skipped)
      llvm::append_range(axes, typeOf(input).getAxes());
  return ArrayRef<StringAttr>(map->getParentOfType<KernelOp>().orderAxes(axes)) == map.getType().getAxes();
}

/// Drops operands that are unused or repeated, as far as the result's axes allow.
static bool dropOperands(MapOp map) {
  bool changed = false;
  Block &block = map.getBody().front();
  for (unsigned i = map.getInputs().size(); i-- > 0;) {
    for (unsigned j = 0; j < i; ++j)
      if (map.getInputs()[j] == map.getInputs()[i])
        block.getArgument(i).replaceAllUsesWith(block.getArgument(j));
    if (!block.getArgument(i).use_empty() || !keepsAxesWithout(map, i))
      continue;
    block.eraseArgument(i);
    map->eraseOperand(i);
    changed = true;
  }
  return changed;
}

/// Moves `producer`'s region to where the map uses operand `index`; the operand stays, unused.
static void inlineProducer(MapOp map, unsigned index, MapOp producer) {
  Block &block = map.getBody().front(), &source = producer.getBody().front();
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(source.getArguments(), producer.getInputs())) {
    mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
    map->insertOperands(map->getNumOperands(), input);
  }
  auto builder = OpBuilder::atBlockBegin(&block);
  for (Operation &op : source.without_terminator())
    builder.clone(op, mapping);
  block.getArgument(index).replaceAllUsesWith(mapping.lookup(source.getTerminator()->getOperand(0)));
}

/// Integer work on indices alone, such as a causal mask: cheap enough to repeat, and only read as bounds where it is used.
static bool isPredicate(MapOp map) {
  return llvm::all_of(map.getInputs(), [](Value input) { return isa_and_nonnull<IndexOp>(input.getDefiningOp()); }) &&
         llvm::all_of(map.getBody().front().without_terminator(),
                      [](Operation &op) { return llvm::all_of(op.getResultTypes(), [](Type type) { return type.isInteger(); }); });
}

static bool mergeProducers(MapOp map, int64_t &merged) {
  for (unsigned i = 0; i < map.getInputs().size(); ++i) {
    auto producer = map.getInputs()[i].getDefiningOp<MapOp>();
    if (!producer || map.getBody().front().getArgument(i).use_empty())
      continue;
    bool isFree = producer.getInputs().empty() || isPredicate(producer);
    bool isOnlyUser = producer->hasOneUse() && producer->getBlock() == map->getBlock() && producer.getType().getAxes() == map.getType().getAxes();
    if (!isFree && !isOnlyUser)
      continue;
    inlineProducer(map, i, producer);
    dropOperands(map);
    if (producer->use_empty())
      producer->erase();
    ++merged;
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
/// Integer arithmetic of one map as affine expressions over the kernel's axes.
class IndexArithmetic {
public:
  explicit IndexArithmetic(MapOp map) : map(map) {
    for (auto axis : map->getParentOfType<KernelOp>().getAxes().getAsRange<AxisAttr>())
      axes.push_back(axis.getName());
  }
  bool run(int64_t &folded);

private:
  AffineExpr getExpr(Value scalar);
  /// A new block argument that is `expr`.
  Value addIndex(AffineExpr expr);
  bool foldConstants();
  bool simplifyCompare(arith::CmpIOp compare);

  MapOp map;
  SmallVector<StringAttr> axes;
};
} // namespace

/// Null for what is not affine in the axes.
AffineExpr IndexArithmetic::getExpr(Value scalar) {
  MLIRContext *context = map.getContext();
  if (!scalar.getType().isInteger(64))
    return {};
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    auto index = map.getInputs()[argument.getArgNumber()].getDefiningOp<IndexOp>();
    if (!index)
      return {};
    SmallVector<AffineExpr> dims;
    for (StringAttr axis : index.getType().getAxes())
      dims.push_back(getAffineDimExpr(llvm::find(axes, axis) - axes.begin(), context));
    return index.getMap().getResult(0).replaceDims(dims);
  }
  Operation *op = scalar.getDefiningOp();
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::FloorDivSIOp>(op))
    return {};
  AffineExpr lhs = getExpr(op->getOperand(0)), rhs = getExpr(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  if (isa<arith::MulIOp>(op))
    return lhs.isSymbolicOrConstant() || rhs.isSymbolicOrConstant() ? lhs * rhs : AffineExpr();
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  return divisor && divisor.getValue() > 0 ? lhs.floorDiv(divisor.getValue()) : AffineExpr();
}

Value IndexArithmetic::addIndex(AffineExpr expr) {
  OpBuilder builder(map);
  SmallVector<StringAttr> over;
  SmallVector<AffineExpr> dims(axes.size(), builder.getAffineConstantExpr(0));
  unsigned symbols = 0;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (expr.isFunctionOfDim(i)) {
      dims[i] = builder.getAffineDimExpr(over.size());
      over.push_back(axis);
    }
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      symbols = std::max(symbols, symbol.getPosition() + 1);
  });
  auto type = ValueType::get(builder.getContext(), over, builder.getI64Type());
  auto index = IndexOp::create(builder, map.getLoc(), type, AffineMap::get(over.size(), symbols, expr.replaceDims(dims)));
  map->insertOperands(map->getNumOperands(), index.getResult());
  return map.getBody().front().addArgument(builder.getI64Type(), map.getLoc());
}

/// `a < b` as `a - b < 0`, the constant part on the right.
bool IndexArithmetic::simplifyCompare(arith::CmpIOp compare) {
  AffineExpr lhs = getExpr(compare.getLhs()), rhs = getExpr(compare.getRhs());
  bool isUnsigned = compare.getPredicate() >= arith::CmpIPredicate::ult;
  bool isPlain = isa<BlockArgument>(compare.getLhs()) && rhs && isa<AffineConstantExpr>(rhs);
  if (!lhs || !rhs || isUnsigned || isPlain)
    return false;
  int64_t constant = 0;
  AffineExpr difference = lhs - rhs;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(difference); sum && sum.getKind() == AffineExprKind::Add)
    if (auto offset = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      constant = -offset.getValue();
      difference = sum.getLHS();
    }
  if (isa<AffineConstantExpr>(difference))
    return false;
  OpBuilder builder(compare);
  Value limit = arith::ConstantOp::create(builder, compare.getLoc(), builder.getI64IntegerAttr(constant));
  compare.getLhsMutable().assign(addIndex(difference));
  compare.getRhsMutable().assign(limit);
  return true;
}

/// Indices that are one number become constants, and what folds on them does.
bool IndexArithmetic::foldConstants() {
  Block &block = map.getBody().front();
  auto builder = OpBuilder::atBlockBegin(&block);
  bool changed = false;
  for (BlockArgument argument : block.getArguments())
    if (auto number = dyn_cast_or_null<AffineConstantExpr>(getExpr(argument)); number && !argument.use_empty()) {
      argument.replaceAllUsesWith(arith::ConstantOp::create(builder, map.getLoc(), builder.getI64IntegerAttr(number.getValue())));
      changed = true;
    }
  for (Operation &op : block.without_terminator()) {
    SmallVector<OpFoldResult> results;
    if (isa<arith::ConstantOp>(op) || op.use_empty() || failed(op.fold(results)) || results.size() != 1)
      continue;
    auto value = dyn_cast<Attribute>(results[0]);
    builder.setInsertionPoint(&op);
    Value replacement = value ? arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(value)).getResult() : cast<Value>(results[0]);
    op.getResult(0).replaceAllUsesWith(replacement);
    changed = true;
  }
  return changed;
}

bool IndexArithmetic::run(int64_t &folded) {
  bool constants = foldConstants();
  SmallVector<Operation *> ops(llvm::make_pointer_range(map.getBody().front()));
  int64_t before = folded;
  for (Operation *op : ops)
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      folded += simplifyCompare(compare);
  for (Operation *op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || op->use_empty() || isa<arith::ConstantOp>(op))
      continue;
    AffineExpr expr = getExpr(op->getResult(0));
    if (!expr || isa<AffineConstantExpr>(expr))
      continue;
    op->getResult(0).replaceAllUsesWith(addIndex(expr));
    ++folded;
  }
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  dropOperands(map);
  return constants || folded != before;
}

/// A map that only passes on an operand of its own axes.
static bool forward(MapOp map) {
  auto argument = dyn_cast<BlockArgument>(map.getBody().front().getTerminator()->getOperand(0));
  if (!argument)
    return false;
  Value input = map.getInputs()[argument.getArgNumber()];
  if (input.getType() != map.getType())
    return false;
  map.replaceAllUsesWith(input);
  map.erase();
  return true;
}

namespace {
struct SimplifyKernelsPass : impl::SimplifyKernelsPassBase<SimplifyKernelsPass> {
  using Base::Base;

  bool simplifyOnce(KernelOp kernel) {
    SmallVector<MapOp> maps;
    kernel.walk([&](MapOp map) { maps.push_back(map); });
    int64_t merged = 0, folded = 0;
    bool changed = false;
    for (MapOp map : llvm::reverse(maps)) // users first: a producer is erased only after its user was visited
      if (!map->use_empty() && !forward(map)) {
        changed |= dropOperands(map);
        changed |= mergeProducers(map, merged) || IndexArithmetic(map).run(folded);
        if (merged)
          break; // `maps` may hold the erased producer
      }
    numMerged += merged;
    numIndices += folded;
    return changed;
  }

  void eraseDead(KernelOp kernel) {
    SmallVector<Operation *> ops;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getDialect() == kernel->getDialect() && !isa<YieldOp>(op) && op != kernel)
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (!isa<StoreOp>(op) && op->use_empty()) {
        op->erase();
        ++numDead;
      }
  }

  void runOnOperation() override {
    while (simplifyOnce(getOperation()))
      ;
    eraseDead(getOperation());
  }
};
} // namespace
} // namespace emmy::fuse
