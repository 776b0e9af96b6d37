// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The C functions that turn a module in the llvm dialect into text or code.
#include "emmy-c/Emmy.h"
#include "emmy/Target/Cpu.h"
#include "emmy/Target/Ptx.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

static void report(llvm::StringRef text, MlirStringCallback callback, void *userData) { callback(wrap(text), userData); }

bool emmyTranslateToLlvmIr(MlirModule module, MlirStringCallback callback, void *userData) {
  llvm::Expected<std::string> text = emmy::translateToLlvmIr(unwrap(module));
  bool translated = static_cast<bool>(text);
  report(translated ? *text : llvm::toString(text.takeError()), callback, userData);
  return translated;
}

/// Gives each kernel's text to `each`, or the reason why there are none to `error`.
static bool reportKernels(llvm::Expected<std::map<std::string, std::string>> texts, EmmyKernelTextCallback each,
                          MlirStringCallback error, void *userData, void *errorData) {
  if (!texts) {
    report(llvm::toString(texts.takeError()), error, errorData);
    return false;
  }
  for (const auto &[kernel, text] : *texts)
    each(wrap(llvm::StringRef(kernel)), wrap(llvm::StringRef(text)), userData);
  return true;
}

bool emmyTranslateToPtx(MlirModule module, MlirStringRef chip, EmmyKernelTextCallback each, MlirStringCallback error, void *userData,
                        void *errorData) {
  return reportKernels(emmy::translateToPtx(unwrap(module), unwrap(chip)), each, error, userData, errorData);
}

bool emmyTranslateKernelsToLlvmIr(MlirModule module, EmmyKernelTextCallback each, MlirStringCallback error, void *userData,
                                  void *errorData) {
  return reportKernels(emmy::translateKernelsToLlvmIr(unwrap(module)), each, error, userData, errorData);
}

EmmyCpuCode emmyCpuCodeCompile(MlirModule module, MlirStringCallback error, void *userData) {
  llvm::Expected<std::unique_ptr<emmy::CpuCode>> code = emmy::CpuCode::compile(unwrap(module));
  if (code)
    return {code->release()};
  report(llvm::toString(code.takeError()), error, userData);
  return {nullptr};
}

void emmyCpuCodeDestroy(EmmyCpuCode code) { delete static_cast<emmy::CpuCode *>(code.ptr); }

uint64_t emmyCpuCodeGetAddress(EmmyCpuCode code, MlirStringRef symbol, MlirStringCallback error, void *userData) {
  llvm::Expected<uint64_t> address = static_cast<emmy::CpuCode *>(code.ptr)->getAddress(unwrap(symbol));
  if (address)
    return *address;
  report(llvm::toString(address.takeError()), error, userData);
  return 0;
}
