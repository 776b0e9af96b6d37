// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The CUDA back end against a driver that writes down what it is asked to do.

#include "../Check.h"
#include "FakeCuda.h"
#include "emmy/Runtime/CudaDriver.h"
#include "emmy/Runtime/PlanRunner.h"

#include <thread>

using namespace emmy::runtime;
using Lines = std::vector<std::string>;

static std::unique_ptr<PlanRunner> makeRunner(llvm::StringRef steps, llvm::StringRef code = "good") {
  std::string json = (R"({"version": 1, "target": "sm_90a", "symbols": [{"id": 0, "arg": 0, "dim": 0}],
    "args": [{"name": "x", "dtype": "bf16", "sizes": ["s0", 64]}],
    "buffers": [{"arg": 0}, {"output": 0, "dtype": "bf16", "sizes": ["s0", 64]},
                {"temp": true, "offset": 256, "bytes": 512}],
    "arena_bytes": 768, "outputs": [1], "steps": )" + steps + "}").str();
  CodeMap map;
  map["m"].bytes = code.str();
  return llvm::cantFail(PlanRunner::create(llvm::cantFail(Plan::parse(json)), std::move(map)));
}

/// Calls a plan with x at `address`, the output at 8192 and the arena at 16384.
static CallStatus call(const PlanRunner &runner, uintptr_t address, int64_t rows, int32_t device = 0) {
  int64_t sizes[] = {rows, 64}, strides[] = {64, 1};
  ArgValue arg;
  arg.onGpu = true;
  arg.device = device;
  arg.dtype = DType::BF16;
  arg.rank = 2;
  arg.sizes = sizes;
  arg.strides = strides;
  arg.data = reinterpret_cast<void *>(address);
  CallFrame frame;
  if (CallStatus status = runner.bind(arg, frame))
    return status;
  frame.stream = reinterpret_cast<void *>(uintptr_t(7));
  runner.setOutput(0, reinterpret_cast<void *>(uintptr_t(8192)), frame);
  runner.setArena(reinterpret_cast<void *>(uintptr_t(16384)), frame);
  return runner.run(frame);
}

static std::string getMessage(const CallStatus &status) { return status ? status->message : "success"; }

static void testLaunches() {
  auto runner = makeRunner(R"([
    {"launch": "a_pi", "module": "m", "grid": [["ceildiv", "s0", 4]], "block": 128, "pdl": true,
     "params": [{"ptr": 0, "offset": 32}, {"i32": ["-", 0, "s0"]}]},
    {"launch": "b_p", "module": "m", "grid": ["s0", 2, 3], "block": 384, "cluster": [16, 1, 1], "shared": 200000,
     "pdl": true, "params": [{"ptr": 2}]},
    {"copy": [1, 0]}, {"fill": 2, "value": 3, "offset": 4, "bytes": 8}])");
  CHECK_EQ(takeFakeCudaLog(), Lines());
  CHECK_EQ(getMessage(call(*runner, 4096, 16)), std::string("success"));
  CHECK_EQ(takeFakeCudaLog(),
           Lines({"push 100", "load good", "attribute b_p 8 200000", "attribute b_p 14 1", "pop 100", "push 100",
                  "a_pi(4128, -16) grid 4x1x1 block 128 shared 0 stream 7 context 100 pdl 1",
                  "b_p(16640) grid 16x2x3 block 384 shared 200000 stream 7 context 100 cluster 16 pdl 1",
                  "copy 8192 4096 2048", "fill 16644 3 8", "pop 100"}));
  // Code is loaded once per device, and each call runs in the context of its device.
  CHECK_EQ(getMessage(call(*runner, 4096, 0)), std::string("success"));
  CHECK_EQ(takeFakeCudaLog(), Lines({"push 100", "fill 16644 3 8", "pop 100"}));
  CHECK_EQ(getMessage(call(*runner, 4096, 0, 1)), std::string("success"));
  CHECK_EQ(takeFakeCudaLog(), Lines({"push 101", "load good", "attribute b_p 8 200000", "attribute b_p 14 1",
                                     "pop 101", "push 101", "fill 16644 3 8", "pop 101"}));
  CHECK_EQ(getMessage(call(*runner, 4096, 1, 2)), std::string("CUDA device 2: CUDA_ERROR_FAKE (as asked)"));
}

static const char *const kMapStep = R"([{"launch": "c_tp", "module": "m", "params": [
    {"tmap": {"buffer": 0, "dtype": "bf16", "sizes": [2, "s0", 64], "strides": [["*", "s0", 128], 128],
              "box": [1, 16, 32], "swizzle": 64, "l2_promotion": 256}},
    {"ptr": 1}]}])";

static void testTensorMaps() {
  auto runner = makeRunner(kMapStep);
  CHECK_EQ(getMessage(runner->load(0)), std::string("success"));
  takeFakeCudaLog();
  const std::string encoded = "encode type 9 at 4096 64/0/32 8/128/16 2/1024/1 swizzle 2 promotion 3";
  const std::string launched = "c_tp(map4096, 8192) grid 1x1x1 block 1 shared 0 stream 7 context 100";
  CHECK_EQ(getMessage(call(*runner, 4096, 8)), std::string("success"));
  CHECK_EQ(takeFakeCudaLog(), Lines({"push 100", encoded, launched, "pop 100"}));
  CHECK_EQ(getMessage(call(*runner, 4096, 8)), std::string("success"));
  CHECK_EQ(takeFakeCudaLog(), Lines({"push 100", launched, "pop 100"}));
  // Another size is another descriptor; an empty tensor has none.
  call(*runner, 4096, 9);
  CHECK_EQ(takeFakeCudaLog().size(), size_t(4));
  call(*runner, 4096, 0);
  CHECK_EQ(takeFakeCudaLog(),
           Lines({"push 100", "c_tp(map0, 8192) grid 1x1x1 block 1 shared 0 stream 7 context 100", "pop 100"}));
  CHECK_EQ(getMessage(call(*runner, 4104, 8)),
           std::string("TMA descriptor of bf16 was refused: CUDA_ERROR_FAKE (as asked); address 0x1008, sizes "
                       "[2, 8, 64], byte strides [1024, 128], box [1, 16, 32]"));
  // A failed call leaves the thread's contexts as they were.
  CHECK_EQ(takeFakeCudaLog().back(), std::string("pop 100"));
}

static void testThreads() {
  auto runner = makeRunner(kMapStep);
  std::vector<std::thread> threads;
  std::vector<int> failures(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&runner, &failures, i] {
      for (int k = 0; k < 500; ++k)
        failures[i] += call(*runner, 4096 + 16 * ((i + k) % 20), 8, k % 2) != nullptr;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK_EQ(failures, std::vector<int>(8));
  int loads = 0;
  for (const std::string &line : takeFakeCudaLog()) {
    loads += line == "load good";
    if (line.find("c_tp(map") == 0)
      CHECK_EQ(line.find("map0"), std::string::npos);
  }
  CHECK_EQ(loads, 2);
}

static void testFailures() {
  CHECK_EQ(getMessage(makeRunner(kMapStep, "bad")->load(0)),
           std::string("code object 'm' for target sm_90a does not load: CUDA_ERROR_FAKE (as asked)\nline 1: bad"));
  auto runner = makeRunner(R"([{"launch": "fail_p", "module": "m", "grid": [2], "block": [8, 4], "cluster": [2, 1, 1],
    "shared": 5, "params": [{"ptr": 0}]}])");
  CHECK_EQ(getMessage(call(*runner, 4096, 8)),
           std::string("launch of kernel 'fail_p' failed: CUDA_ERROR_FAKE (as asked); grid [2, 1, 1], block [8, 4, 1], "
                       "cluster [2, 1, 1], shared 5"));
  auto info = llvm::cantFail(cuda::getDeviceInfo(1));
  CHECK_EQ(info.name, std::string("Fake"));
  CHECK_EQ(llvm::toString(cuda::getDeviceInfo(5).takeError()),
           std::string("there is no CUDA device 5: the driver lists 2"));
}

int main() {
  testLaunches();
  testTensorMaps();
  testThreads();
  testFailures();
  using emmy::test::tally;
  std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
  return tally.failed != 0;
}
