// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pass `--emmy-simulate`. In: kernels (or a module) with an `emmy.simulate` attribute. Out: the same IR; broken rules
// and wrong results are errors, buffers marked `dump` go to standard output. Stops at the first schedule that fails.
#include "Scenario.h"
#include "emmy/Simulator/Passes.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "emmy-simulate"

using namespace mlir;

namespace emmy::simulator {
#define GEN_PASS_DEF_SIMULATEPASS
#include "emmy/Simulator/Passes.h.inc"

/// Runs the scenario once and checks its results.
static LogicalResult runOnce(const Scenario &scenario, const Options &options, bool dump) {
  std::vector<std::vector<uint8_t>> contents;
  std::vector<Buffer> buffers;
  for (const ScenarioBuffer &buffer : scenario.buffers)
    contents.push_back(fillBuffer(buffer));
  for (auto [i, buffer] : llvm::enumerate(scenario.buffers))
    buffers.push_back({"buffer #" + std::to_string(i), contents[i], !buffer.fill.empty(), true});
  if (failed(simulate(scenario.launches, buffers, options)))
    return failure();
  for (auto [i, buffer] : llvm::enumerate(scenario.buffers)) {
    if (dump && buffer.dump)
      dumpBuffer(scenario, i, contents[i], llvm::outs());
    if (!buffer.expect.empty() && failed(checkExpectation(scenario, i, contents)))
      return failure();
  }
  return success();
}

struct SimulatePass : impl::SimulatePassBase<SimulatePass> {
  using Base::Base;

  LogicalResult runScenario(Operation *op, DictionaryAttr attr) {
    FailureOr<Scenario> scenario = parseScenario(op, attr);
    for (unsigned i = 0; succeeded(scenario) && i < schedules; ++i) {
      Options options;
      options.seed = seed + i;
      options.schedule = schedule;
      if (failed(runOnce(*scenario, options, /*dump=*/i == 0)))
        return failure();
      ++numRuns;
    }
    return scenario;
  }

  void runOnOperation() override {
    bool isRight = true;
    // Every scenario runs, so that one file can hold many faults.
    getOperation()->walk([&](Operation *op) {
      if (auto attr = op->getAttrOfType<DictionaryAttr>("emmy.simulate"))
        isRight &= succeeded(runScenario(op, attr));
    });
    if (!isRight)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace emmy::simulator
