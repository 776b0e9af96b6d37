// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pass `--emmy-simulate`. In: kernels (or a module) with an `emmy.simulate` attribute. Out: the same IR; broken rules
// and wrong results are errors, buffers marked `dump` go to standard output. Stops at the first schedule that fails.
#include "Machine.h"
#include "Scenario.h"
#include "emmy/Simulator/Passes.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "emmy-simulate"

using namespace mlir;

namespace emmy::simulator {
#define GEN_PASS_DEF_SIMULATEPASS
#include "emmy/Simulator/Passes.h.inc"

/// Runs the scenario once and checks its results.
static FailureOr<Summary> runOnce(const Scenario &scenario, const Options &options, bool dump) {
  std::vector<std::vector<uint8_t>> contents;
  std::vector<Buffer> buffers;
  for (const ScenarioBuffer &buffer : scenario.buffers)
    contents.push_back(fillBuffer(buffer));
  for (auto [i, buffer] : llvm::enumerate(scenario.buffers))
    buffers.push_back({"buffer #" + std::to_string(i), contents[i], !buffer.fill.empty(), true});
  FailureOr<Summary> summary = simulate(scenario.op, scenario.launches, buffers, options);
  if (failed(summary))
    return failure();
  for (auto [i, buffer] : llvm::enumerate(scenario.buffers)) {
    if (dump && buffer.dump)
      dumpBuffer(scenario, i, buffers[i], llvm::outs());
    if (!buffer.expect.empty() && failed(checkExpectation(scenario, i, buffers)))
      return failure();
  }
  return summary;
}

static std::string counted(uint64_t number, StringRef noun) { return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str(); }

/// "emmy-simulate: @copy: 1 launch of 1 program under 20 schedules, 1 buffer compared"
static void printSummary(const Scenario &scenario, const Summary &summary, unsigned schedules) {
  llvm::raw_ostream &os = llvm::errs();
  os << "emmy-simulate: ";
  if (auto symbol = dyn_cast<SymbolOpInterface>(scenario.op); symbol && symbol.getNameAttr())
    os << "@" << symbol.getName() << ": ";
  const auto compared = llvm::count_if(scenario.buffers, [](const ScenarioBuffer &buffer) { return !buffer.expect.empty(); });
  os << summary.launches << (summary.launches == 1 ? " launch" : " launches") << " of " << counted(summary.programs, "program") << " under "
     << counted(schedules, "schedule") << ", " << counted(compared, "buffer") << " compared\n";
}

struct SimulatePass : impl::SimulatePassBase<SimulatePass> {
  using Base::Base;

  LogicalResult runScenario(Operation *op, DictionaryAttr attr) {
    FailureOr<Scenario> scenario = parseScenario(op, attr);
    FailureOr<Summary> summary = failure();
    for (unsigned i = 0; succeeded(scenario) && i < schedules; ++i) {
      Options options;
      options.seed = seed + i;
      options.schedule = schedule;
      summary = runOnce(*scenario, options, /*dump=*/i == 0);
      if (failed(summary))
        return failure();
      ++numRuns;
    }
    if (succeeded(summary))
      printSummary(*scenario, *summary, schedules);
    return summary;
  }

  /// Every scenario runs, so that one file can hold many faults.
  LogicalResult runScenarios() {
    if (schedules == 0)
      return headerError(getOperation()) << "expects at least one schedule, but got schedules=0";
    bool isRight = true, isFound = false;
    getOperation()->walk([&](Operation *op) {
      Attribute attr = op->getAttr("emmy.simulate");
      if (!attr)
        return;
      isFound = true;
      auto description = dyn_cast<DictionaryAttr>(attr);
      if (description)
        isRight &= succeeded(runScenario(op, description));
      else
        isRight = succeeded(LogicalResult(headerError(op) << "expects emmy.simulate to be a dictionary, but got " << attr));
    });
    if (!isFound)
      return headerError(getOperation()) << "expects a kernel, or the module, to carry emmy.simulate: nothing was simulated";
    return success(isRight);
  }

  void runOnOperation() override {
    if (failed(runScenarios()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace emmy::simulator
