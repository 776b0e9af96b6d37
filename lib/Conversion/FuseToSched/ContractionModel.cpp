// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The schedule space of contractions and the model that ranks it: waves over the multiprocessors, tensor-core time under the power
// cap, shared-memory fill from L2, DRAM, and what a launch costs at least. Numbers are those measured on an H200.
#include "Contraction.h"

using namespace mlir;
using emmy::sched::ContractionAttr;
using emmy::sched::MmaKind;
using emmy::sched::Multicast;
using emmy::sched::Via;

namespace emmy::contraction {

/// A symbolic size is taken to be this many when schedules are ranked: long enough that large tiles are not ruled out.
constexpr int64_t kTypicalSize = 2048;

namespace {
/// The sizes that a schedule works on.
struct Problem {
  int64_t rows, columns, depth, batch;
  int64_t operandBytes, resultBytes; // of one element
};

/// Times in microseconds that overlap each other; the longest one limits.
struct Times {
  double tensor = 0, l2 = 0, dram = 0, latency = 0;
};
} // namespace

static int64_t bytesOf(Value value) {
  return std::max<int64_t>(1, cast<fuse::ValueType>(value.getType()).getElementType().getIntOrFloatBitWidth() / 8);
}

static Problem measure(const Contraction &contraction, const KernelView &view, const Roles &roles) {
  auto size = [&](unsigned axis) {
    AffineExpr expr = view.axes[axis].size;
    AffineExpr typical = getAffineConstantExpr(kTypicalSize, expr.getContext());
    DenseMap<AffineExpr, AffineExpr> guesses;
    expr.walk([&](AffineExpr e) {
      if (isa<AffineSymbolExpr>(e))
        guesses[e] = typical;
    });
    AffineExpr known = expr.replace(guesses);
    auto constant = dyn_cast<AffineConstantExpr>(known);
    return constant ? std::max<int64_t>(1, constant.getValue()) : kTypicalSize;
  };
  Problem problem{size(roles.row), size(roles.column), 1, 1, bytesOf(roles.a), 0};
  for (unsigned axis : contraction.over)
    problem.depth *= size(axis);
  for (const auto &group : {contraction.batch, contraction.lhs, contraction.rhs})
    for (unsigned axis : group)
      if (axis != roles.row && axis != roles.column)
        problem.batch *= size(axis);
  for (fuse::StoreOp store : contraction.stores)
    problem.resultBytes += bytesOf(store.getValue());
  return problem;
}

/// Shares of the two operands that each CTA of a cluster loads.
static std::pair<double, double> loadedShares(ContractionAttr s) {
  double part = 1.0 / s.getCluster();
  return {s.getMulticast() == Multicast::a ? part : 1.0, s.getMulticast() == Multicast::b ? part : 1.0};
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static Times estimateWgmma(ContractionAttr s, const Problem &p, TargetAttr target) {
  auto [shareA, shareB] = loadedShares(s);
  int64_t rowTiles = llvm::divideCeil(p.rows, s.getRows()), columnTiles = llvm::divideCeil(p.columns, s.getColumns());
  int64_t &stacked = s.getMulticast() == Multicast::a ? columnTiles : rowTiles;
  stacked = llvm::alignTo(stacked, s.getCluster());
  int64_t tiles = rowTiles * columnTiles * p.batch;
  // A single consumer leaves registers and shared memory for more CTAs on a multiprocessor.
  int64_t resident = s.getConsumers() == 1 ? 2 : 1;
  int64_t slots = target.getSms() / s.getCluster() * s.getCluster() * resident;
  int64_t active = std::min(tiles, slots);
  double waves = llvm::divideCeil(tiles, slots), steps = llvm::divideCeil(p.depth, s.getStep());
  double perMicrosecond = target.getClock(); // clocks

  // 1. Tensor cores: 1024 multiply-adds a clock, less where rows outweigh columns in shared-memory reads, less under the power cap with
  // more fill for the same work.
  double instruction = std::max(s.getColumns() / 2.0, (64 + s.getColumns()) / 4.0);
  double stepClocks = instruction * (s.getRows() / 64) * 4 * resident;
  double fill = (s.getRows() * shareA + s.getColumns() * shareB) * s.getStep() * p.operandBytes;
  double fillPerWork = fill / 1024 * (128.0 * 256) / (s.getRows() * s.getColumns());
  double power = std::max(0.8, 1 - 0.06 * (fillPerWork - 32) / 16);
  double alone = s.getConsumers() == 1 && active <= target.getSms() ? 1.25 : 1.0; // nobody fills one warpgroup's gaps
  double epilogue = (0.04 * s.getRows() * s.getColumns() + 400) * resident;
  Times times;
  times.tensor = waves * (steps * stepClocks * alone / (0.87 * power) + epilogue) / perMicrosecond;
  // 2. L2 to shared memory: 64 bytes a clock for each multiprocessor, about 6150 for all.
  double rate = std::min(64.0 * std::min(active, target.getSms()), 6150.0) / active;
  times.l2 = waves * steps * fill / rate / perMicrosecond;
  // 3. DRAM: every tensor once. A loader needs enough in flight to hide about 0.9 us.
  double bytes = p.batch * (static_cast<double>(p.rows) * p.depth * p.operandBytes + static_cast<double>(p.columns) * p.depth * p.operandBytes +
                            static_cast<double>(p.rows) * p.columns * p.resultBytes);
  double usefulFill = (std::min<int64_t>(p.rows, s.getRows()) * shareA + std::min<int64_t>(p.columns, s.getColumns()) * shareB) *
                      s.getStep() * p.operandBytes;
  double flying = active * s.getStages() * usefulFill / 0.9; // bytes in a microsecond
  times.dram = bytes / std::min(target.getHbm() * 1000.0, flying);
  // 4. A launch, and the first bytes.
  times.latency = 2.7;
  return times;
}

/// Multiply-adds a clock of a multiprocessor that the plain loops reach without a ring, about a third of the units' peak.
static Times estimatePortable(ContractionAttr s, const Problem &p, TargetAttr target) {
  double rate = s.getMma() == MmaKind::fma ? 40 : 250;
  int64_t tiles = llvm::divideCeil(p.rows, s.getRows()) * llvm::divideCeil(p.columns, s.getColumns()) * p.batch;
  double waves = llvm::divideCeil(tiles, target.getSms() * 2);
  double steps = llvm::divideCeil(p.depth, s.getStep());
  double step = 2.0 * s.getRows() * s.getColumns() * s.getStep() / rate + 600; // two CTAs share a multiprocessor
  Times times;
  times.tensor = waves * steps * step / target.getClock();
  times.dram = p.batch * static_cast<double>(p.rows + p.columns) * p.depth * p.operandBytes / (target.getHbm() * 1000.0);
  times.latency = 2.7;
  return times;
}

static Candidate rate(ContractionAttr schedule, const Problem &problem, TargetAttr target) {
  bool wgmma = schedule.getMma() == MmaKind::wgmma;
  Times times = wgmma ? estimateWgmma(schedule, problem, target) : estimatePortable(schedule, problem, target);
  double busy = std::max({times.tensor, times.l2, times.dram}), total = busy + times.latency;
  std::pair<double, StringRef> limits[] = {{times.tensor, schedule.getMma() == MmaKind::fma ? "FMA units" : "tensor cores"},
                                           {times.l2, "L2"},
                                           {times.dram, "DRAM"},
                                           {times.latency, "launch"}};
  auto &worst = *llvm::max_element(limits, [](auto &a, auto &b) { return a.first < b.first; });
  std::string limit = (worst.second + " " + Twine(static_cast<int>(100 * worst.first / total)) + " %").str();
  return {schedule, total, limit};
}

Candidate rate(Attribute schedule, const KernelView &view, TargetAttr target) {
  Contraction contraction = *analyze(view);
  auto given = cast<ContractionAttr>(schedule);
  return rate(given, measure(contraction, view, *assignRoles(contraction, view, given)), target);
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

namespace {
/// Tries points of the space and keeps the legal ones.
class Space {
public:
  Space(const Contraction &contraction, const KernelView &view, TargetAttr target)
      : contraction(contraction), view(view), target(target) {}

  void add(ContractionAttr schedule) {
    if (violation(schedule, view, target))
      return;
    Roles roles = *assignRoles(contraction, view, schedule);
    candidates.push_back(rate(schedule, measure(contraction, view, roles), target));
  }

  /// The schedule with as many stages as fit, at most 8 (or as many as there are steps).
  ContractionAttr withStages(ContractionAttr s) const {
    std::optional<Roles> roles = assignRoles(contraction, view, s);
    int64_t budget = s.getConsumers() == 1 ? target.getShared() / 2 - 1024 : target.getShared();
    for (int64_t stages = 8; stages > 2; --stages) {
      ContractionAttr tried = with(s, stages);
      if (roles && sharedBytes(contraction, view, tried, *roles) <= budget)
        return tried;
    }
    return with(s, 2);
  }

  SmallVector<Candidate> candidates;

private:
  static ContractionAttr with(ContractionAttr s, int64_t stages) {
    return ContractionAttr::get(s.getContext(), s.getRowAxis(), s.getRows(), s.getColumnAxis(), s.getColumns(), s.getStep(), stages,
                                s.getConsumers(), s.getCluster(), s.getMulticast(), s.getRaster(), s.getWait(), s.getEpilogue(),
                                s.getMma(), s.getPersistent());
  }

  const Contraction &contraction;
  const KernelView &view;
  TargetAttr target;
};
} // namespace

/// About 2048 rows of operand a stay in L2 while the columns pass.
static int64_t rasterGroup(int64_t rows, int64_t cluster, Multicast multicast) {
  return std::max<int64_t>(1, 2048 / (rows * (multicast == Multicast::b ? cluster : 1)));
}

static void addWgmma(Space &space, StringAttr row, StringAttr column) {
  struct Shape {
    int64_t rows, consumers;
    SmallVector<int64_t> columns;
  };
  const Shape shapes[] = {{128, 2, {256, 192, 160, 128, 96, 64}}, {256, 2, {192, 160, 128, 96, 64}}, {64, 1, {128, 64, 32, 16}}};
  const std::pair<int64_t, Multicast> clusters[] = {{2, Multicast::b}, {2, Multicast::a}, {1, Multicast::none}};
  MLIRContext *context = row.getContext();
  for (const Shape &shape : shapes)
    for (int64_t columns : shape.columns)
      for (auto [cluster, multicast] : clusters)
        for (Via epilogue : {Via::tma, Via::direct}) {
          size_t before = space.candidates.size();
          int64_t wait = shape.rows == 64 * shape.consumers ? 1 : 0;
          space.add(space.withStages(ContractionAttr::get(context, row, shape.rows, column, columns, 64, 1, shape.consumers, cluster,
                                                          multicast, rasterGroup(shape.rows, cluster, multicast), wait, epilogue,
                                                          MmaKind::wgmma, shape.consumers > 1)));
          if (space.candidates.size() > before)
            break; // direct stores are for what the copy engine cannot write
        }
}

static void addPortable(Space &space, StringAttr row, StringAttr column) {
  MLIRContext *context = row.getContext();
  auto add = [&](int64_t rows, int64_t columns, int64_t step, int64_t warps, MmaKind mma) {
    space.add(ContractionAttr::get(context, row, rows, column, columns, step, 1, warps, 1, Multicast::none, 8, 0, Via::direct, mma,
                                   false));
  };
  for (int64_t columns : {128, 64, 32})
    add(64, columns, 64, 4, MmaKind::mma_sync);
  add(64, 64, 16, 4, MmaKind::fma);
  add(32, 32, 16, 4, MmaKind::fma);
}

SmallVector<Candidate> enumerate(const KernelView &view, TargetAttr target) {
  Contraction contraction = *analyze(view);
  Space space(contraction, view, target);
  // The tile takes the largest axis of each operand; a symbolic one counts as large.
  auto largest = [&](ArrayRef<unsigned> axes) {
    return view.axes[*llvm::max_element(axes, [&](unsigned a, unsigned b) {
      return view.axes[a].getSize(kTypicalSize) <= view.axes[b].getSize(kTypicalSize);
    })].name;
  };
  StringAttr lhs = largest(contraction.lhs), rhs = largest(contraction.rhs);
  addWgmma(space, lhs, rhs);
  addWgmma(space, rhs, lhs);
  addPortable(space, lhs, rhs);
  return space.candidates;
}

} // namespace emmy::contraction
