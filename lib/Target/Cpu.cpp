// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// LLVM's optimiser and its JIT, for the machine that the process runs on.
#include "emmy/Target/Cpu.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace emmy {

void registerLlvmTranslation(mlir::DialectRegistry &registry) {
  registry.insert<mlir::LLVM::LLVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

static llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context) {
  if (std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(module, context, "emmy"))
    return translated;
  return llvm::createStringError("the module cannot be translated to LLVM's IR");
}

llvm::Expected<std::string> translateToLlvmIr(mlir::ModuleOp module) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> translated = translate(module, context);
  if (!translated)
    return translated.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  (*translated)->print(os, nullptr);
  return text;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = options.LoopInterleaving = options.SLPVectorization = true;
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

struct CpuCode::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// Prefix of compiled functions in the JIT, so that none takes the place of a library function of the same name (`exp`).
static constexpr llvm::StringLiteral kPrefix = "emmy.";

static void renameFunctions(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.setName(kPrefix + function.getName());
}

//===----------------------------------------------------------------------===//
// Conversions of bf16 and f16
//===----------------------------------------------------------------------===//

/// A 16-bit float as the compiler's library takes and returns it: in the low bits of a vector register, where a float is too.
static float toRegister(const llvm::APFloat &value) {
  return llvm::bit_cast<float>(uint32_t(value.bitcastToAPInt().getZExtValue()));
}

template <typename Wide> static float truncateTo(const llvm::fltSemantics &semantics, Wide wide) {
  llvm::APFloat value(wide);
  bool inexact;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return toRegister(value);
}

static float extendFrom(const llvm::fltSemantics &semantics, float narrow) {
  llvm::APFloat value(semantics, llvm::APInt(16, llvm::bit_cast<uint32_t>(narrow) & 0xffff));
  bool inexact;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToFloat();
}

/// LLVM calls these where it moves 16-bit floats through wider ones; not every process has them.
static llvm::Error defineSmallFloatCalls(llvm::orc::LLJIT &jit) {
  using llvm::APFloat;
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  define("__truncsfbf2", +[](float x) { return truncateTo(APFloat::BFloat(), x); });
  define("__truncdfbf2", +[](double x) { return truncateTo(APFloat::BFloat(), x); });
  define("__truncsfhf2", +[](float x) { return truncateTo(APFloat::IEEEhalf(), x); });
  define("__truncdfhf2", +[](double x) { return truncateTo(APFloat::IEEEhalf(), x); });
  define("__extendhfsf2", +[](float x) { return extendFrom(APFloat::IEEEhalf(), x); });
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

CpuCode::CpuCode(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CpuCode::~CpuCode() = default;

/// The host's machine with vectors wide enough for its units.
static llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectMachine() {
  static const bool initialized = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialized)
    return llvm::createStringError("this build of LLVM has no code generator for this machine");
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (builder)
    builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder;
}

llvm::Expected<std::unique_ptr<CpuCode>> CpuCode::compile(mlir::ModuleOp module) {
  auto builder = detectMachine();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto translated = translate(module, *context);
  if (!translated)
    return translated.takeError();
  (*translated)->setDataLayout((*machine)->createDataLayout());
  (*translated)->setTargetTriple((*machine)->getTargetTriple());
  renameFunctions(**translated);
  optimize(**translated, **machine);

  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*builder)).create();
  if (!jit)
    return jit.takeError();
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process) // where malloc, free and memset come from
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (auto error = defineSmallFloatCalls(**jit))
    return std::move(error);
  if (auto error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(*translated), std::move(context))))
    return std::move(error);
  auto impl = std::make_unique<Impl>();
  impl->jit = std::move(*jit);
  return std::unique_ptr<CpuCode>(new CpuCode(std::move(impl)));
}

llvm::Expected<uint64_t> CpuCode::getAddress(llvm::StringRef symbol) const {
  auto address = impl->jit->lookup((kPrefix + symbol).str());
  if (!address)
    return address.takeError();
  return address->getValue();
}

} // namespace emmy
