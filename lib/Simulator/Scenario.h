// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A self-contained simulation in a `.mlir` file: buffers with contents and expected results, and the launches on them.

#ifndef EMMY_LIB_SIMULATOR_SCENARIO_H
#define EMMY_LIB_SIMULATOR_SCENARIO_H

#include "Number.h"
#include "emmy/Simulator/Simulator.h"

namespace emmy::simulator {

/// A buffer of a scenario: `{type = tensor<8x8xf32>, fill = "random 1", expect = "same 0", dump}`.
struct ScenarioBuffer {
  mlir::RankedTensorType type;
  Format format;
  /// "zero", "iota", "random SEED", or empty for an output that nothing has written.
  std::string fill;
  /// See `checkExpectation`; empty for none.
  std::string expect;
  bool dump = false;
};

struct Scenario {
  mlir::Operation *op = nullptr;
  std::vector<ScenarioBuffer> buffers;
  std::vector<Step> launches;
};

/// Reads `emmy.simulate` of a kernel (one launch on all buffers) or of a module (a list of launches).
mlir::FailureOr<Scenario> parseScenario(mlir::Operation *op, mlir::DictionaryAttr attr);

/// Elements of a buffer as `fill` says.
std::vector<uint8_t> fillBuffer(const ScenarioBuffer &buffer);

/// Compares a buffer with its reference: "same A", "transpose A", "add A B", "matmul_nt A B", "softmax A", "row_sum A", "attention Q K V",
/// "constant V", where A and B are numbers of buffers. Emits a diagnostic at the scenario's op on the first difference, or on an
/// element that nothing has written.
mlir::LogicalResult checkExpectation(const Scenario &scenario, size_t index, llvm::ArrayRef<Buffer> buffers);

/// Prints all elements in row-major order.
void dumpBuffer(const Scenario &scenario, size_t index, const Buffer &buffer, llvm::raw_ostream &os);

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_SCENARIO_H
