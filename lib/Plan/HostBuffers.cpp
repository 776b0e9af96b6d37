// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostBuffers.h"

using namespace mlir;

namespace emmy {

HostBuffers::HostBuffers(func::FuncOp host) {
  for (BlockArgument argument : host.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      numbers[argument] = buffers.size();
      buffers.push_back({HostBuffer::Argument, argument});
    }
  for (auto launch : host.getBody().front().getOps<LaunchOp>()) {
    llvm::SmallDenseMap<int64_t, int64_t> tied;
    ArrayRef<int64_t> pairs = launch.getTied().value_or(ArrayRef<int64_t>());
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      tied[pairs[i]] = pairs[i + 1];
    for (OpResult result : launch.getResults()) {
      auto operand = tied.find(result.getResultNumber());
      if (operand != tied.end()) {
        numbers[result] = lookup(launch.getInputs()[operand->second]);
      } else {
        numbers[result] = buffers.size();
        buffers.push_back({HostBuffer::Temporary, result});
      }
      buffers[numbers[result]].written = true;
    }
  }
  for (Value returned : host.getBody().front().getTerminator()->getOperands())
    if (auto number = numbers.find(returned); number != numbers.end())
      if (HostBuffer &buffer = buffers[number->second]; buffer.kind == HostBuffer::Temporary)
        buffer.kind = HostBuffer::Output;
}

AffineExpr getBytes(RankedTensorType type) {
  unsigned width = std::max(type.getElementTypeBitWidth(), 8u) / 8; // an i1 is a byte
  AffineExpr bytes = getAffineConstantExpr(width, type.getContext());
  for (AffineExpr size : getSizes(type))
    bytes = size * bytes;
  return bytes;
}

} // namespace emmy
