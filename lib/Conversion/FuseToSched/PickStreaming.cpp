// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Picks the streaming schedule of a kernel. Memory time is the same for any tile that keeps enough bytes in flight, so the pick is a
// rule and not a search: vectors along the axis that most bytes are contiguous along, about 32 elements for each thread, a whole row
// in one CTA where it fits (one read of the data), otherwise passes over blocks of it.
#include "Streaming.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace emmy::streaming {

/// Most elements of a row that stay in the registers of one CTA: 512 threads of 32.
static constexpr int64_t kLargestRow = 16384;
static constexpr int64_t kElementsPerThread = 32;
static constexpr int64_t kThreads = 128;
static constexpr int64_t kMostThreads = 512;
/// Most elements of a tile in one thread, whoever asks for them: more only spill.
static constexpr int64_t kMostElements = 512;

SmallVector<StringAttr> reducedAxes(fuse::KernelOp kernel) {
  llvm::SetVector<StringAttr> axes;
  kernel.walk([&](Operation *op) {
    ArrayAttr over;
    if (auto reduce = dyn_cast<fuse::ReduceOp>(op))
      over = reduce.getOver();
    else if (auto contract = dyn_cast<fuse::ContractOp>(op))
      over = contract.getOver();
    else if (auto fold = dyn_cast<fuse::FoldOp>(op))
      axes.insert(fold.getAxisAttr());
    if (over)
      for (auto axis : over.getAsRange<StringAttr>())
        axes.insert(axis);
  });
  return kernel.orderAxes(axes.getArrayRef());
}

AffineExpr flatOffset(fuse::KernelOp kernel, Value tensor, AffineMap map) {
  auto type = cast<RankedTensorType>(tensor.getType());
  LayoutAttr layout = kernel.getLayout(cast<BlockArgument>(tensor).getArgNumber());
  SmallVector<AffineExpr> strides =
      layout ? llvm::to_vector(layout.getStrides()) : getContiguousStrides(getSizes(type), kernel.getContext());
  AffineExpr offset = getAffineConstantExpr(0, kernel.getContext());
  for (auto [index, stride] : llvm::zip(map.getResults(), strides))
    offset = offset + index * stride;
  return offset;
}

namespace {
struct AxisFacts {
  std::optional<int64_t> size;
  bool reduced = false;
  int64_t contiguousBytes = 0; // bytes of elements accessed with stride 1 along it, as far as known
};

using Facts = llvm::MapVector<StringAttr, AxisFacts>;
} // namespace

/// Whether `expr` grows by exactly one with dimension `dim`.
static bool isUnit(AffineExpr expr, unsigned dim) {
  if (auto position = dyn_cast<AffineDimExpr>(expr))
    return position.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Add)
    return false;
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  return (isUnit(lhs, dim) && !rhs.isFunctionOfDim(dim)) || (isUnit(rhs, dim) && !lhs.isFunctionOfDim(dim));
}

static Facts gatherFacts(fuse::KernelOp kernel, int64_t &smallestElement) {
  Facts facts;
  SmallVector<StringAttr> reduced = reducedAxes(kernel);
  for (auto axis : kernel.getAxes().getAsRange<fuse::AxisAttr>()) {
    AxisFacts &fact = facts[axis.getName()];
    if (auto constant = dyn_cast<AffineConstantExpr>(axis.getSize()))
      fact.size = constant.getValue();
    fact.reduced = llvm::is_contained(reduced, axis.getName());
  }
  smallestElement = 8;
  auto visit = [&](Value tensor, AffineMap map, ArrayRef<StringAttr> over) {
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), elements = 1;
    AffineExpr offset = flatOffset(kernel, tensor, map);
    for (StringAttr axis : over)
      elements = std::min<int64_t>(elements * facts[axis].size.value_or(1024), int64_t(1) << 40);
    for (auto [i, axis] : llvm::enumerate(over))
      if (isUnit(offset, i)) {
        facts[axis].contiguousBytes += elements * bytes;
        smallestElement = std::min(smallestElement, bytes);
      }
  };
  kernel.walk([&](fuse::LoadOp load) { visit(load.getSource(), load.getMap(), load.getType().getAxes()); });
  kernel.walk([&](fuse::StoreOp store) {
    visit(store.getTarget(), store.getMap(), llvm::to_vector(store.getOver().getAsRange<StringAttr>()));
  });
  return facts;
}

namespace {
/// Threads and registers dealt out to axes, one at a time.
class Deal {
public:
  Deal(Facts &facts) : facts(facts) {
    for (auto &[axis, fact] : facts)
      threads[axis] = registers[axis] = 1;
  }

  int64_t threadsLeft(int64_t wanted) const { return std::max<int64_t>(1, wanted / usedThreads()); }

  int64_t usedThreads() const {
    int64_t product = 1;
    for (auto &entry : threads)
      product *= entry.second;
    return product;
  }

  int64_t usedRegisters() const {
    int64_t product = 1;
    for (auto &entry : registers)
      product *= entry.second;
    return product;
  }

  /// At most `most` threads along `axis`, a power of two no larger than what is left of its size.
  void giveThreads(StringAttr axis, int64_t most) {
    int64_t rest = llvm::divideCeil(facts[axis].size.value_or(most * block(axis)), block(axis));
    threads[axis] *= std::min<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(1, rest)), llvm::bit_floor<uint64_t>(std::max<int64_t>(1, most)));
  }

  /// At most `most` registers along `axis`, no more than what is left of its size.
  void giveRegisters(StringAttr axis, int64_t most) {
    int64_t rest = llvm::divideCeil(facts[axis].size.value_or(most * block(axis)), block(axis));
    registers[axis] *= std::max<int64_t>(1, std::min(rest, most));
  }

  int64_t block(StringAttr axis) { return threads[axis] * registers[axis]; }

  llvm::MapVector<StringAttr, int64_t> threads, registers;

private:
  Facts &facts;
};
} // namespace

/// Rows whose elements stay in the CTA: the sizes of all reduced axes are known and their product is small.
static bool fitsWhole(Facts &facts, int64_t vector, StringAttr vectorAxis) {
  int64_t product = 1;
  for (auto &[axis, fact] : facts) {
    if (!fact.reduced)
      continue;
    if (!fact.size)
      return false;
    product *= axis == vectorAxis ? llvm::alignTo(std::max<int64_t>(1, *fact.size), vector) : std::max<int64_t>(1, *fact.size);
    if (product > kLargestRow)
      return false;
  }
  return !facts[vectorAxis].reduced ? product <= kLargestRow / (vector * 32) : true;
}

/// Threads along the columns of a reduction that one CTA does at once: a warp's width, or less where that leaves multiprocessors idle.
static int64_t columnThreads(Facts &facts, int64_t vector, StringAttr vectorAxis, TargetAttr target) {
  int64_t threads = 32, others = 1;
  for (auto &[axis, fact] : facts)
    if (!fact.reduced && axis != vectorAxis)
      others *= fact.size.value_or(1024);
  while (threads > 4 && others * llvm::divideCeil(facts[vectorAxis].size.value_or(1024), threads * vector) < target.getSms())
    threads /= 2;
  return threads;
}

/// Reductions that wait for each other; an online one keeps two numbers.
static unsigned reductionDepth(fuse::KernelOp kernel) {
  DenseMap<Operation *, unsigned> depths;
  unsigned most = 0;
  for (Operation &op : kernel.getBody().front()) {
    unsigned depth = isa<fuse::FoldOp>(op) ? 2 : isa<fuse::ReduceOp, fuse::ContractOp>(op) ? 1 : 0, before = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        before = std::max(before, depths[producer]);
    depths[&op] = before + depth;
    most = std::max(most, before + depth);
  }
  return most;
}

/// Threads for `vectors` vectors of a row, at most `each` for a thread. In a row of a whole CTA whose warps meet only once, twice as many
/// threads with half the registers stream 1 to 2 % faster, if that leaves no more lanes empty; where they meet more often, more wait.
static int64_t rowThreads(int64_t vectors, int64_t each, bool meetOnce) {
  int64_t threads = llvm::PowerOf2Ceil(llvm::divideCeil(vectors, each)), twice = 2 * threads;
  bool fills = llvm::alignTo(vectors, twice) <= llvm::alignTo(vectors, threads);
  return meetOnce && threads == kThreads && fills ? twice : threads;
}

sched::StreamingAttr pickSchedule(fuse::KernelOp kernel, TargetAttr target) {
  int64_t smallestElement;
  Facts facts = gatherFacts(kernel, smallestElement);
  SmallVector<StringAttr> axes, serial;
  for (auto &entry : facts)
    axes.push_back(entry.first);
  if (axes.empty()) // one element
    return sched::StreamingAttr::get(kernel.getContext(), {}, {}, {}, {}, StringAttr(), 1);

  StringAttr vectorAxis = axes.back();
  for (StringAttr axis : axes)
    if (facts[axis].contiguousBytes >= std::max<int64_t>(1, facts[vectorAxis].contiguousBytes))
      vectorAxis = axis;
  int64_t vector = std::min<int64_t>(8, 16 / smallestElement);
  if (std::optional<int64_t> size = facts[vectorAxis].size)
    vector = std::min<int64_t>(vector, llvm::bit_floor<uint64_t>(std::max<int64_t>(1, *size)));
  if (!facts[vectorAxis].contiguousBytes)
    vector = 1;

  Deal deal(facts);
  deal.registers[vectorAxis] = vector;
  SmallVector<StringAttr> reduced = reducedAxes(kernel);
  bool whole = fitsWhole(facts, vector, vectorAxis);
  bool vectorReduced = facts[vectorAxis].reduced;
  if (!vectorReduced) // one warp's width of a column block, the rest along what is reduced
    deal.giveThreads(vectorAxis, reduced.empty() ? kThreads : whole ? columnThreads(facts, vector, vectorAxis, target) : 32);
  // Reduced axes, innermost first: all of them in the tile where the row fits, otherwise blocks of the innermost and passes.
  for (StringAttr axis : llvm::reverse(reduced)) {
    bool one = whole && *facts[axis].size > 0; // a pass over nothing leaves what the reduction starts from
    int64_t rest = one ? llvm::divideCeil(*facts[axis].size, deal.block(axis)) : 1 << 20;
    int64_t registersLeft = std::max<int64_t>(1, kElementsPerThread / deal.usedRegisters());
    int64_t wanted = one ? rowThreads(rest, registersLeft, axis == vectorAxis && reductionDepth(kernel) == 1) : 2 * kThreads;
    if (axis == vectorAxis || vectorReduced)
      wanted = std::max<int64_t>(wanted, 32);
    deal.giveThreads(axis, std::min(wanted, deal.threadsLeft(one ? kMostThreads : 2 * kThreads)));
    if (one) {
      deal.registers[axis] *= llvm::divideCeil(*facts[axis].size, deal.block(axis));
      continue;
    }
    deal.giveRegisters(axis, std::max<int64_t>(1, kElementsPerThread / deal.usedRegisters()));
    if (!facts[axis].size || !*facts[axis].size || *facts[axis].size > deal.block(axis))
      serial.push_back(axis);
  }
  // Other axes, innermost first: fill the CTA, then each thread.
  for (StringAttr axis : llvm::reverse(axes))
    if (!facts[axis].reduced && axis != vectorAxis)
      deal.giveThreads(axis, deal.threadsLeft(kThreads));
  if (reduced.empty()) {
    int64_t elements = std::max<int64_t>(vector, 32 / smallestElement);
    deal.giveRegisters(vectorAxis, std::max<int64_t>(1, elements / deal.usedRegisters()));
    for (StringAttr axis : llvm::reverse(axes))
      if (axis != vectorAxis)
        deal.giveRegisters(axis, std::max<int64_t>(1, elements / deal.usedRegisters()));
  }
  // A CTA has whole warps; what is missing replicates.
  SmallVector<int64_t> blocks, threads;
  for (StringAttr axis : axes) {
    blocks.push_back(deal.block(axis));
    threads.push_back(deal.threads[axis]);
  }
  return sched::StreamingAttr::get(kernel.getContext(), axes, blocks, threads, serial, vectorAxis, vector);
}

std::optional<std::string> checkSchedule(sched::StreamingAttr schedule, fuse::KernelOp kernel, TargetAttr target) {
  // Elements of a thread and threads of a CTA, and no more of either than a product can hold.
  int64_t elements = 1, inAll = 1;
  for (auto [axis, block, threads] : llvm::zip(schedule.getAxes(), schedule.getBlocks(), schedule.getThreads())) {
    if (!kernel.getAxis(axis))
      return ("the kernel has no axis '" + axis.getValue() + "'").str();
    int64_t vector = axis == schedule.getVectorAxis() ? schedule.getVector() : 1;
    if (threads < 1 || threads > 65536 || !llvm::isPowerOf2_64(threads))
      return ("threads along '" + axis.getValue() + "' must be a power of two, not ").str() + std::to_string(threads);
    if (vector < 1 || vector > 16 || !llvm::isPowerOf2_64(vector))
      return "a vector has 1, 2, 4, 8 or 16 elements, not " + std::to_string(vector);
    if (block < 1 || block % (threads * vector))
      return ("the block of '" + axis.getValue() + "' must be a multiple of threads times vector, ").str() +
             std::to_string(threads * vector) + ", not " + std::to_string(block);
    inAll *= threads;
    if (inAll > 1024)
      return "a CTA has at most 1024 threads, not " + std::to_string(inAll);
    if (block / threads > kMostElements / elements)
      return "a thread holds at most " + std::to_string(kMostElements) + " elements of a tile, but the block of '" +
             axis.getValue().str() + "' gives it " + std::to_string(block / threads) + " for each of " + std::to_string(elements);
    elements *= block / threads;
  }
  for (StringAttr axis : reducedAxes(kernel)) {
    auto size = dyn_cast<AffineConstantExpr>(kernel.getAxis(axis).getSize());
    if (!schedule.isSerial(axis) && !(size && size.getValue() <= schedule.getBlock(axis)))
      return ("the reduced axis '" + axis.getValue() + "' must be serial or one block").str();
  }
  return std::nullopt;
}

} // namespace emmy::streaming
