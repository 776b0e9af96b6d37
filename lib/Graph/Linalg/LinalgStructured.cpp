// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Structured ops of linalg, named or generic, by their indexing maps and bodies.
#include "LinalgImport.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace emmy;
using namespace emmy::graph;

LogicalResult graph::refuseLinalg(Operation *op, const Twine &reason) {
  return op->emitError() << "'" << op->getName() << "' cannot be imported: " << reason;
}

namespace {
/// A structured op whose loops are static, read once.
struct Loops {
  Operation *op;
  int64_t numInputs;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> reductions;
  Sizes sizes;
  Block *body;

  int64_t getNumInputs() const { return numInputs; }
  Value getOperand(int64_t i) const { return op->getOperand(i); }
  BlockArgument getOutput() const { return body->getArgument(getNumInputs()); }
};

/// How the body folds an element into the output: `combiner(output, element)`.
struct Fold {
  Combiner kind;
  Value element;
};
} // namespace

static FailureOr<Loops> readLoops(linalg::LinalgOp op) {
  Loops loops{op, op.getNumDpsInputs(), op.getIndexingMapsArray(), {}, {}, op.getBlock()};
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return refuseLinalg(op, "it has several results");
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return refuseLinalg(op, "it has dynamic sizes");
    loops.sizes.push_back(getAffineConstantExpr(size, op.getContext()));
  }
  for (AffineMap map : loops.maps)
    if (!map.isProjectedPermutation())
      return refuseLinalg(op, "its indexing is no permutation of loops");
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      loops.reductions.push_back(i);
  return loops;
}

/// `value`, indexed by `map`, with one dimension for each loop; loops that it does not have get size 1.
static Value alignToLoops(GraphBuilder &b, Value value, AffineMap map) {
  SmallVector<std::pair<int64_t, int64_t>> order; // (loop, dimension)
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    order.emplace_back(cast<AffineDimExpr>(expr).getPosition(), dim);
  llvm::sort(order);
  SmallVector<int64_t> permutation = llvm::map_to_vector(order, [](auto entry) { return entry.second; });
  Value permuted = b.permute(value, permutation);
  Sizes aligned(map.getNumDims(), b.sizeOf(1)), sizes = sizesOf(permuted);
  for (auto [i, entry] : llvm::enumerate(order))
    aligned[entry.first] = sizes[i];
  return b.reshape(permuted, aligned);
}

/// A value over `loops` in the dimension order of the result.
static Value orderAsResult(GraphBuilder &b, Value value, ArrayRef<int64_t> loops, AffineMap result) {
  SmallVector<int64_t> permutation;
  for (AffineExpr expr : result.getResults())
    permutation.push_back(llvm::find(loops, cast<AffineDimExpr>(expr).getPosition()) - loops.begin());
  return b.permute(value, permutation);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The ops of the body that `root` depends on.
static llvm::DenseSet<Operation *> collectProducers(Block *body, Value root) {
  llvm::DenseSet<Operation *> producers;
  SmallVector<Value> pending{root};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == body && producers.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return producers;
}

/// Clones what `root` needs of the body into a map region; `inputs` are the region's arguments, then one i64 for each loop.
static FailureOr<Value> cloneBody(const Loops &loops, Value root, OpBuilder &builder, ArrayRef<Value> inputs, size_t numOperands) {
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(loops.body->getArguments(), inputs.take_front(numOperands)))
    mapping.map(argument, input);
  llvm::DenseSet<Operation *> needed = collectProducers(loops.body, root);
  for (Operation &op : loops.body->without_terminator()) {
    if (!needed.contains(&op))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      Value number = inputs[numOperands + index.getDim()];
      mapping.map(index.getResult(), arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), number).getResult());
      continue;
    }
    StringRef dialect = op.getName().getDialectNamespace();
    if (op.getNumRegions() || (dialect != "arith" && dialect != "math"))
      return refuseLinalg(&op, "a body may only compute on scalars");
    for (Value operand : op.getOperands()) {
      if (mapping.contains(operand))
        continue;
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      if (!constant)
        return refuseLinalg(&op, "its body uses a value from outside that is not constant");
      mapping.map(operand, builder.clone(*constant)->getResult(0));
    }
    builder.clone(op, mapping);
  }
  if (auto constant = root.getDefiningOp<arith::ConstantOp>(); constant && !mapping.contains(root))
    return builder.clone(*constant)->getResult(0);
  if (!mapping.contains(root))
    return refuseLinalg(loops.op, "its body yields a value from outside");
  return mapping.lookup(root);
}

/// A map over all loops that computes `root`.
static FailureOr<Value> buildMap(GraphBuilder &b, const Loops &loops, Value root, bool withOutput) {
  SmallVector<Value> operands;
  size_t numOperands = loops.getNumInputs() + withOutput, numLoops = loops.sizes.size();
  for (size_t i = 0; i < numOperands; ++i) {
    Value operand = loops.getOperand(i);
    if (!isa<RankedTensorType>(operand.getType()))
      return refuseLinalg(loops.op, "it has a scalar operand");
    operands.push_back(alignToLoops(b, operand, loops.maps[i]));
  }
  bool usesIndex = !loops.body->getOps<linalg::IndexOp>().empty();
  for (size_t i = 0; usesIndex && i < numLoops; ++i)
    operands.push_back(b.indexAlong(i, numLoops, loops.sizes[i]));
  bool isGood = true;
  Value result = b.map(emmy::getTensorType(loops.sizes, root.getType()), operands, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    FailureOr<Value> cloned = cloneBody(loops, root, b.getBuilder(), x, numOperands);
    isGood = succeeded(cloned);
    return isGood ? *cloned : s.constant(root.getType(), 0);
  });
  if (!isGood)
    return failure();
  return result;
}

static std::optional<Fold> matchFold(const Loops &loops) {
  Operation *combiner = loops.body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !loops.getOutput().hasOneUse())
    return std::nullopt;
  std::optional<Combiner> kind = llvm::TypeSwitch<Operation *, std::optional<Combiner>>(combiner)
                                     .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Combiner::add; })
                                     .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Combiner::mul; })
                                     .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return Combiner::max; })
                                     .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return Combiner::min; })
                                     .Case<arith::OrIOp>([](auto) { return Combiner::any; })
                                     .Case<arith::AndIOp>([](auto) { return Combiner::all; })
                                     .Default(std::nullopt);
  bool isBits = kind == Combiner::any || kind == Combiner::all;
  if (!kind || (isBits && !loops.getOutput().getType().isInteger(1)))
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i)
    if (combiner->getOperand(i) == loops.getOutput())
      return Fold{*kind, combiner->getOperand(1 - i)};
  return std::nullopt;
}

/// Whether the folded element is the product of the two operands, each perhaps extended.
static bool isProduct(const Loops &loops, const Fold &fold) {
  Operation *product = fold.element.getDefiningOp();
  if (fold.kind != Combiner::add || loops.getNumInputs() != 2 || !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  auto source = [](Value value) {
    Operation *extension = value.getDefiningOp();
    return isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(extension) ? extension->getOperand(0) : value;
  };
  return source(product->getOperand(0)) == loops.body->getArgument(0) && source(product->getOperand(1)) == loops.body->getArgument(1);
}

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

/// The contraction of the two operands over the reduction loops, in the order of the result; null where it is none.
static Value buildContract(GraphBuilder &b, const Loops &loops) {
  auto dimOf = [&](int64_t operand, int64_t loop) -> int64_t {
    std::optional<unsigned> dim = loops.maps[operand].getResultPosition(b.getBuilder().getAffineDimExpr(loop));
    return dim ? static_cast<int64_t>(*dim) : -1;
  };
  SmallVector<int64_t> batch, over, order;
  for (int64_t loop = 0, end = loops.sizes.size(); loop < end; ++loop) {
    int64_t lhs = dimOf(0, loop), rhs = dimOf(1, loop);
    bool isReduction = llvm::is_contained(loops.reductions, loop);
    if ((lhs < 0 && rhs < 0) || (isReduction && (lhs < 0 || rhs < 0)))
      return {};
    if (lhs < 0 || rhs < 0)
      continue;
    (isReduction ? over : batch).append({lhs, rhs});
    if (!isReduction)
      order.push_back(loop);
  }
  for (int64_t operand : {0, 1}) // the free dimensions of each operand follow in its own order
    for (AffineExpr expr : loops.maps[operand].getResults()) {
      int64_t loop = cast<AffineDimExpr>(expr).getPosition();
      if (dimOf(1 - operand, loop) < 0)
        order.push_back(loop);
    }
  return orderAsResult(b, b.contract(loops.getOperand(0), loops.getOperand(1), batch, over), order, loops.maps.back());
}

static bool isNeutral(Combiner kind, Value init) {
  auto expand = init.getDefiningOp<ExpandOp>();
  Attribute splat = getSplat(expand ? expand.getInput() : init);
  if (auto number = dyn_cast_or_null<FloatAttr>(splat)) {
    double value = number.getValueAsDouble(), infinity = std::numeric_limits<double>::infinity();
    return value == (kind == Combiner::add ? 0 : kind == Combiner::mul ? 1 : kind == Combiner::max ? -infinity : infinity);
  }
  auto number = dyn_cast_or_null<IntegerAttr>(splat);
  return number && ((kind == Combiner::add || kind == Combiner::any) ? number.getValue().isZero()
                                                                     : kind == Combiner::mul && number.getValue().isOne());
}

static Value combine(ScalarBuilder &s, Combiner kind, Value a, Value b) {
  switch (kind) {
  case Combiner::add:
  case Combiner::any: return s.add(a, b);
  case Combiner::mul:
  case Combiner::all: return s.mul(a, b);
  case Combiner::max: return s.max(a, b);
  case Combiner::min: return s.min(a, b);
  }
  return {};
}

static FailureOr<Value> buildReduction(GraphBuilder &b, const Loops &loops) {
  std::optional<Fold> fold = matchFold(loops);
  if (!fold)
    return refuseLinalg(loops.op, "its body is no sum, product, maximum or minimum of the output and an element");
  Value result = isProduct(loops, *fold) ? buildContract(b, loops) : Value();
  Type element = loops.getOutput().getType();
  if (!result) {
    FailureOr<Value> elements = buildMap(b, loops, fold->element, /*withOutput=*/false);
    if (failed(elements))
      return failure();
    bool isSum = fold->kind == Combiner::add || fold->kind == Combiner::mul;
    Type accumulator = isSum && isa<FloatType>(element) ? getAccumulatorType(element) : element;
    SmallVector<int64_t> kept;
    for (int64_t loop = 0, end = loops.sizes.size(); loop < end; ++loop)
      if (!llvm::is_contained(loops.reductions, loop))
        kept.push_back(loop);
    result = orderAsResult(b, b.reduce(fold->kind, *elements, loops.reductions, accumulator, /*keepDims=*/false), kept, loops.maps.back());
  }
  Value init = loops.getOperand(loops.getNumInputs());
  if (isNeutral(fold->kind, init))
    return b.convert(result, element);
  return b.map(element, {result, init}, [&](ScalarBuilder &s, ArrayRef<Value> x) {
    return s.convert(combine(s, fold->kind, x[0], s.convert(x[1], x[0].getType())), element);
  });
}

FailureOr<Value> graph::importStructured(GraphBuilder &b, linalg::LinalgOp op) {
  FailureOr<Loops> loops = readLoops(op);
  if (failed(loops))
    return failure();
  if (!loops->reductions.empty())
    return buildReduction(b, *loops);
  bool withOutput = !loops->getOutput().use_empty();
  FailureOr<Value> result = buildMap(b, *loops, loops->body->getTerminator()->getOperand(0), withOutput);
  if (failed(result))
    return failure();
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, loops->sizes.size()));
  return orderAsResult(b, *result, all, loops->maps.back());
}
