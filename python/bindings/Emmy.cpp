// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The extension `emmy._mlir_libs._emmy`: dialects, passes and the code generator's entry points.
#include "emmy-c/Emmy.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include <nanobind/stl/string.h>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

static void append(MlirStringRef text, void *to) { static_cast<std::string *>(to)->append(text.data, text.length); }

/// Machine code of a module; Python keeps it alive as long as an address of it is in use.
class CpuCode {
public:
  explicit CpuCode(MlirModule module) {
    std::string error;
    code = emmyCpuCodeCompile(module, append, &error);
    if (!code.ptr)
      throw std::runtime_error(error);
  }
  CpuCode(const CpuCode &) = delete;
  ~CpuCode() { emmyCpuCodeDestroy(code); }
  uint64_t getAddress(const std::string &symbol) const {
    std::string error;
    uint64_t address = emmyCpuCodeGetAddress(code, mlirStringRefCreate(symbol.data(), symbol.size()), append, &error);
    if (!address)
      throw std::runtime_error(error);
    return address;
  }

private:
  EmmyCpuCode code;
};

static std::string translateToLlvm(MlirModule module) {
  std::string text;
  if (!emmyTranslateToLlvmIr(module, append, &text))
    throw std::runtime_error(text);
  return text;
}

/// Runs a simulation on writable byte arrays and says, as JSON, what was run.
static std::string simulate(MlirModule module, const std::string &steps, const std::vector<nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>> &buffers,
                     uint64_t seed, const std::string &schedule) {
  std::vector<void *> data;
  std::vector<int64_t> sizes;
  for (const auto &buffer : buffers) {
    data.push_back(buffer.data());
    sizes.push_back(static_cast<int64_t>(buffer.size()));
  }
  std::string output;
  if (!emmySimulate(module, mlirStringRefCreate(steps.data(), steps.size()), data.data(), sizes.data(), static_cast<intptr_t>(data.size()),
                    seed, mlirStringRefCreate(schedule.data(), schedule.size()), append, &output))
    throw std::runtime_error(output);
  return output;
}

static void appendKernel(MlirStringRef kernel, MlirStringRef text, void *to) {
  (*static_cast<nb::dict *>(to))[nb::str(kernel.data, kernel.length)] = nb::str(text.data, text.length);
}

static nb::dict translateToPtx(MlirModule module, const std::string &chip) {
  nb::dict texts;
  std::string error;
  if (!emmyTranslateToPtx(module, mlirStringRefCreate(chip.data(), chip.size()), appendKernel, append, &texts, &error))
    throw std::runtime_error(error);
  return texts;
}

static nb::dict translateKernelsToLlvm(MlirModule module) {
  nb::dict texts;
  std::string error;
  if (!emmyTranslateKernelsToLlvmIr(module, appendKernel, append, &texts, &error))
    throw std::runtime_error(error);
  return texts;
}

NB_MODULE(_emmy, m) {
  m.doc() = "Emmy's dialects and passes for MLIR's Python bindings";
  emmyRegisterPasses();
  m.def("register_dialects", [](MlirContext context) { emmyRegisterDialects(context); },
        "Make Emmy's dialects known to a context and load them.");
  m.def("enable_remarks", [](MlirContext context) { emmyEnableRemarks(context); },
        "Make what passes say of their choices remarks to the context's diagnostic handlers.");
  nb::class_<CpuCode>(m, "CpuCode", "Machine code of a module, for this machine")
      .def("address", &CpuCode::getAddress, nb::arg("symbol"), "Address of a function; valid while this object lives.");
  m.def("jit", [](MlirModule module) { return new CpuCode(module); }, nb::arg("module"),
        "Compile a module in the llvm dialect to machine code in this process.");
  m.def("simulate", simulate, nb::arg("module"), nb::arg("steps"), nb::arg("buffers"), nb::arg("seed") = 0,
        nb::arg("schedule") = "random",
        "Run emmy_tile kernels on the simulator and say what was run; `steps` and the result are JSON as emmy.simulator describes. "
        "Raises RuntimeError with the diagnostics.");
  m.def("translate_to_ptx", translateToPtx, nb::arg("module"), nb::arg("chip") = "sm_90a",
        "PTX of each kernel by its name, from what the pipeline emmy-tile-to-nvvm made.");
  m.def("translate_kernels_to_llvm", translateKernelsToLlvm, nb::arg("module"), "LLVM's IR of each kernel by its name, as text.");
  m.def("translate_to_llvm", translateToLlvm, nb::arg("module"), "LLVM's IR of a module in the llvm dialect, as text.");
  m.def(
      "target_attribute",
      [](MlirContext context, const std::string &chip) {
        MlirAttribute target = emmyTargetAttrGetForChip(context, mlirStringRefCreate(chip.data(), chip.size()));
        if (mlirAttributeIsNull(target))
          throw nb::value_error(("no target is named " + chip).c_str());
        return target;
      },
      "The `#emmy.target` attribute with the numbers of a chip.");
}
