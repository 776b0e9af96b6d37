// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// LLVM's optimiser and its NVPTX code generator. No libdevice: kernels call no function.
#include "emmy/Target/Ptx.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace emmy {

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

void registerPtxTranslation(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::NVVM::registerNVVMTargetInterfaceExternalModels(registry);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(llvm::StringRef chip) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  llvm::Triple triple(kTriple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError("this build of LLVM has no NVPTX code generator: %s", error.c_str());
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, chip, "+ptx86", {}, {}, {}, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("no code generator for this chip");
  return machine;
}

/// Inline PTX that a whole warp must execute together may not be moved into divergent branches or copied there; the nvvm dialect
/// has no way to say so.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (auto *code = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
          if (llvm::StringRef(code->getAsmString()).contains(".aligned"))
            call->setConvergent();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions options;
  llvm::PassBuilder builder(&machine, options);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static std::string printAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager codegen;
  machine.addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::AssemblyFile);
  codegen.run(module);
  return text.str().str();
}

/// Translates each gpu.module and gives it to `use`.
static llvm::Error forEachKernel(mlir::ModuleOp module,
                                 llvm::function_ref<void(llvm::StringRef, llvm::Module &)> use) {
  for (auto kernels : module.getOps<mlir::gpu::GPUModuleOp>()) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(kernels, context, kernels.getName());
    if (!translated)
      return llvm::createStringError("the gpu.module '" + kernels.getName().str() + "' cannot be translated to LLVM's IR");
    use(kernels.getName(), *translated);
  }
  return llvm::Error::success();
}

llvm::Expected<std::map<std::string, std::string>> translateToPtx(mlir::ModuleOp module, llvm::StringRef chip) {
  auto machine = createMachine(chip);
  if (!machine)
    return machine.takeError();
  std::map<std::string, std::string> texts;
  llvm::Error error = forEachKernel(module, [&](llvm::StringRef name, llvm::Module &translated) {
    translated.setDataLayout((*machine)->createDataLayout());
    translated.setTargetTriple((*machine)->getTargetTriple());
    markConvergent(translated);
    optimize(translated, **machine);
    texts[name.str()] = printAssembly(translated, **machine);
  });
  if (error)
    return std::move(error);
  return texts;
}

llvm::Expected<std::map<std::string, std::string>> translateKernelsToLlvmIr(mlir::ModuleOp module) {
  std::map<std::string, std::string> texts;
  llvm::Error error = forEachKernel(module, [&](llvm::StringRef name, llvm::Module &translated) {
    llvm::raw_string_ostream(texts[name.str()]) << translated;
  });
  if (error)
    return std::move(error);
  return texts;
}

} // namespace emmy
