// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints the host program as a plan.
//
// In:  one host function of emmy.launch ops with planned memory, kernels of the CPU (emmy_fuse) or of the machine (emmy_tile).
// Out: `emmy.plan` on the module. Refuses sizes that no argument tells and kernels that are not scheduled yet.
#include "HostBuffers.h"
#include "PlanText.h"
#include "dialects/Fuse/Fuse.h"
#include "dialects/Tile/Tile.h"
#include "emmy/Plan/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "emmy-emit-plan"

using namespace mlir;

namespace emmy {
#define GEN_PASS_DEF_EMITPLANPASS
#include "emmy/Plan/Passes.h.inc"

namespace {
class PlanWriter {
public:
  PlanWriter(ModuleOp module, func::FuncOp host) : module(module), host(host), buffers(host) {}
  FailureOr<std::string> write();
  size_t getNumSteps() const { return steps.size(); }

private:
  LogicalResult writeArguments();
  LogicalResult writeBuffers();
  LogicalResult writeSteps();
  LogicalResult writeOutputs();
  LogicalResult writeSymbols();
  FailureOr<std::string> findSource(unsigned symbol);
  FailureOr<std::string> getDtype(Value tensor);
  SmallVector<AffineExpr> getStrides(Value tensor);

  FailureOr<std::string> writeLaunch(LaunchOp launch, fuse::KernelOp kernel);
  FailureOr<std::string> writeLaunch(LaunchOp launch, tile::KernelOp kernel);
  FailureOr<std::string> writeParameter(LaunchOp launch, tile::KernelOp kernel, BlockArgument argument);
  std::string writeTensorMap(LaunchOp launch, BindTmaAttr bind, tile::TmapType type);
  Value getOperand(LaunchOp launch, int64_t number) {
    int64_t inputs = launch.getInputs().size();
    return number < inputs ? launch.getInputs()[number] : launch.getResult(number - inputs);
  }

  ModuleOp module;
  func::FuncOp host;
  HostBuffers buffers;
  ExprPrinter exprs;
  StringRef target;
  SmallVector<std::string> symbols, arguments, bufferTexts, outputs, steps;
};
} // namespace

FailureOr<std::string> PlanWriter::getDtype(Value tensor) {
  StringRef name = getDtypeName(getElementTypeOrSelf(tensor.getType()));
  if (name.empty())
    return host.emitError("has a tensor of type ") << tensor.getType() << ", whose elements no plan can hold";
  if (llvm::is_contained(getSizes(cast<RankedTensorType>(tensor.getType())), AffineExpr()))
    return host.emitError("has a tensor of type ") << tensor.getType() << ", whose sizes are unknown";
  return jsonString(name);
}

SmallVector<AffineExpr> PlanWriter::getStrides(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    if (auto layout = host.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(), kLayoutAttr))
      return llvm::to_vector(layout.getStrides());
  return getContiguousStrides(getSizes(cast<RankedTensorType>(tensor.getType())), module.getContext());
}

//===----------------------------------------------------------------------===//
// Arguments and symbols
//===----------------------------------------------------------------------===//

LogicalResult PlanWriter::writeArguments() {
  for (BlockArgument argument : host.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = host.getArgAttrOfType<StringAttr>(i, "emmy.name");
    if (!name)
      name = host.getArgAttrOfType<StringAttr>(i, kParamAttr);
    std::string nameText = jsonString(name ? name.getValue() : StringRef("arg" + std::to_string(i)).str());
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      if (!argument.getType().isInteger(64) && !argument.getType().isF64())
        return host.emitError("expects tensors, i64 or f64 as arguments, but argument #") << i << " is " << argument.getType();
      arguments.push_back(jsonObject({{"name", nameText}, {"scalar", argument.getType().isF64() ? "\"f64\"" : "\"i64\""}}));
      continue;
    }
    FailureOr<std::string> dtype = getDtype(argument);
    if (failed(dtype))
      return failure();
    auto layout = host.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
    bool isWritten = buffers.buffers[buffers.lookup(argument)].written;
    arguments.push_back(jsonObject({{"name", nameText},
                                    {"dtype", *dtype},
                                    {"sizes", exprs.print(getSizes(type))},
                                    {"strides", exprs.print(getStrides(argument))},
                                    {"align", jsonNumber(layout ? layout.getAlign() : 16)},
                                    {"mutable", jsonBool(isWritten || host.getArgAttr(i, "emmy.mutable"))}}));
  }
  return success();
}

/// The first size, else stride, else scalar among the arguments that is exactly the symbol.
FailureOr<std::string> PlanWriter::findSource(unsigned symbol) {
  AffineExpr wanted = getAffineSymbolExpr(symbol, module.getContext());
  auto findIn = [&](StringRef key, auto listOf) -> std::string {
    for (BlockArgument argument : host.getArguments()) {
      if (!isa<RankedTensorType>(argument.getType()))
        continue;
      SmallVector<AffineExpr> list = listOf(argument);
      auto it = llvm::find(list, wanted);
      if (it != list.end())
        return "\"arg\": " + jsonNumber(argument.getArgNumber()) + ", \"" + key.str() + "\": " + jsonNumber(it - list.begin());
    }
    return "";
  };
  std::string source = findIn("dim", [](Value v) { return getSizes(cast<RankedTensorType>(v.getType())); });
  if (source.empty())
    source = findIn("stride", [&](Value v) { return getStrides(v); });
  std::string name = "s" + std::to_string(symbol);
  for (BlockArgument argument : host.getArguments()) {
    auto named = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "emmy.symbol");
    if (source.empty() && argument.getType().isInteger(64) && named && named.getValue() == name)
      source = "\"arg\": " + jsonNumber(argument.getArgNumber()) + ", \"scalar\": true";
  }
  if (source.empty())
    return host.emitError("uses symbol ") << name << ", which is not the size or stride of any argument, nor a scalar argument";
  if (auto all = host->getAttrOfType<DictionaryAttr>(kSymbolsAttr))
    if (auto range = all.getAs<ArrayAttr>(name); range && range.size() == 2)
      source += ", \"range\": [" + jsonNumber(cast<IntegerAttr>(range[0]).getInt()) + ", " +
                jsonNumber(cast<IntegerAttr>(range[1]).getInt()) + "]";
  return "{\"id\": " + jsonNumber(symbol) + ", " + source + "}";
}

LogicalResult PlanWriter::writeSymbols() {
  for (unsigned symbol : exprs.getSymbols()) {
    FailureOr<std::string> source = findSource(symbol);
    if (failed(source))
      return failure();
    symbols.push_back(*source);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers and outputs
//===----------------------------------------------------------------------===//

LogicalResult PlanWriter::writeBuffers() {
  int64_t numOutputs = 0;
  for (const HostBuffer &buffer : buffers.buffers) {
    if (buffer.kind == HostBuffer::Argument) {
      bufferTexts.push_back(jsonObject({{"arg", jsonNumber(cast<BlockArgument>(buffer.root).getArgNumber())}}));
      continue;
    }
    FailureOr<std::string> dtype = getDtype(buffer.root);
    if (failed(dtype))
      return failure();
    auto type = cast<RankedTensorType>(buffer.root.getType());
    if (buffer.kind == HostBuffer::Output) {
      bufferTexts.push_back(jsonObject({{"output", jsonNumber(numOutputs++)},
                                        {"dtype", *dtype},
                                        {"sizes", exprs.print(getSizes(type))},
                                        {"strides", exprs.print(getStrides(buffer.root))}}));
      continue;
    }
    auto offsets = buffer.root.getDefiningOp()->getAttrOfType<DimsAttr>(kOffsetsAttr);
    if (!offsets)
      return buffer.root.getDefiningOp()->emitOpError("has a temporary without an offset: '--emmy-plan-memory' gives it one");
    AffineExpr offset = offsets.getSizes()[cast<OpResult>(buffer.root).getResultNumber()];
    bufferTexts.push_back(jsonObject({{"temp", "true"}, {"offset", exprs.print(offset)}, {"bytes", exprs.print(getBytes(type))}}));
  }
  return success();
}

LogicalResult PlanWriter::writeOutputs() {
  llvm::DenseSet<unsigned> returned;
  for (Value value : host.getBody().front().getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(value.getType()))
      return host.emitError("expects tensors as results, but returns ") << value.getType();
    unsigned number = buffers.lookup(value);
    const HostBuffer &buffer = buffers.buffers[number];
    bool isFirst = returned.insert(number).second;
    if (buffer.kind == HostBuffer::Output && isFirst)
      outputs.push_back(jsonNumber(number));
    else
      outputs.push_back(jsonObject({{"alias_of", jsonNumber(number)},
                                    {"sizes", exprs.print(getSizes(cast<RankedTensorType>(value.getType())))},
                                    {"strides", exprs.print(getStrides(buffer.root))},
                                    {"offset", "0"}}));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

FailureOr<std::string> PlanWriter::writeLaunch(LaunchOp launch, fuse::KernelOp kernel) {
  if (kernel.getBody().getNumArguments() != launch.getNumOperands() + launch.getNumResults())
    return launch.emitOpError("has ") << launch.getNumOperands() << " operands and " << launch.getNumResults()
                                      << " results, but its kernel has " << kernel.getBody().getNumArguments() << " arguments";
  SmallVector<std::string> parameters;
  for (unsigned i = 0, e = launch.getNumOperands() + launch.getNumResults(); i < e; ++i)
    parameters.push_back(jsonObject({{"ptr", jsonNumber(buffers.lookup(getOperand(launch, i)))}}));
  for (unsigned symbol : fuse::getUsedSymbols(kernel))
    parameters.push_back(jsonObject({{"i64", exprs.print(getAffineSymbolExpr(symbol, module.getContext()))}}));
  std::string name = jsonString(launch.getKernel());
  return jsonObject({{"launch", name}, {"module", name}, {"params", jsonList(parameters)}});
}

std::string PlanWriter::writeTensorMap(LaunchOp launch, BindTmaAttr bind, tile::TmapType type) {
  SmallVector<std::string> box = llvm::map_to_vector(type.getBox(), [](int64_t size) { return jsonNumber(size); });
  return jsonObject({{"buffer", jsonNumber(buffers.lookup(getOperand(launch, bind.getOperand())))},
                     {"offset", exprs.print(bind.getOffset())},
                     {"dtype", jsonString(getDtypeName(type.getElementType()))},
                     {"sizes", exprs.print(bind.getSizes())},
                     {"strides", exprs.print(bind.getStrides())},
                     {"box", jsonList(box)},
                     {"swizzle", jsonNumber(type.getSwizzle())},
                     {"l2_promotion", jsonNumber(bind.getL2Promotion())}});
}

FailureOr<std::string> PlanWriter::writeParameter(LaunchOp launch, tile::KernelOp kernel, BlockArgument argument) {
  Attribute bind = kernel.getBinding(argument.getArgNumber());
  std::optional<int64_t> operand;
  if (auto pointer = dyn_cast_or_null<BindPointerAttr>(bind))
    operand = pointer.getOperand();
  if (auto map = dyn_cast_or_null<BindTmaAttr>(bind))
    operand = map.getOperand();
  if (operand && (*operand < 0 || *operand >= launch.getNumOperands() + launch.getNumResults()))
    return launch.emitOpError("has no operand or result #") << *operand << " for argument #" << argument.getArgNumber() << " of its kernel";
  if (auto pointer = dyn_cast_or_null<BindPointerAttr>(bind))
    return jsonObject({{"ptr", jsonNumber(buffers.lookup(getOperand(launch, pointer.getOperand())))}});
  if (auto size = dyn_cast_or_null<BindSizeAttr>(bind)) // an index is 64 bits wide
    return jsonObject({{argument.getType().isInteger(32) ? "i32" : "i64", exprs.print(size.getSize())}});
  auto map = dyn_cast_or_null<BindTmaAttr>(bind);
  auto type = dyn_cast<tile::TmapType>(argument.getType());
  if (!map || !type)
    return kernel.emitOpError("expects 'emmy.bind' on argument #")
           << argument.getArgNumber() << " of type " << argument.getType() << " to say how a launch fills it";
  return jsonObject({{"tmap", writeTensorMap(launch, map, type)}});
}

FailureOr<std::string> PlanWriter::writeLaunch(LaunchOp launch, tile::KernelOp kernel) {
  SmallVector<std::string> parameters;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    FailureOr<std::string> parameter = writeParameter(launch, kernel, argument);
    if (failed(parameter))
      return failure();
    parameters.push_back(*parameter);
  }
  return jsonObject({{"launch", jsonString(launch.getKernel())},
                     {"module", jsonString("kernels")},
                     {"grid", exprs.print(kernel.getGrid().getSizes())},
                     {"block", jsonNumber(kernel.getWarps() * 32)},
                     {"cluster", jsonList({jsonNumber(kernel.getCluster()), "1", "1"})},
                     {"shared", jsonNumber(tile::planShared(kernel).bytes)},
                     {"pdl", jsonBool(kernel.getPdl())},
                     {"params", jsonList(parameters)}});
}

LogicalResult PlanWriter::writeSteps() {
  for (Operation &op : host.getBody().front().without_terminator()) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      return op.emitOpError("is no step of a plan; a host program holds 'emmy.launch' only");
    Operation *kernel = module.lookupSymbol(launch.getKernel());
    FailureOr<std::string> step = failure();
    if (auto fuseKernel = dyn_cast<fuse::KernelOp>(kernel)) {
      target = "cpu";
      step = writeLaunch(launch, fuseKernel);
    } else if (auto tileKernel = dyn_cast<tile::KernelOp>(kernel)) {
      step = writeLaunch(launch, tileKernel);
    } else {
      return launch.emitOpError("calls '") << kernel->getName() << "', which is neither a kernel of the CPU nor of emmy_tile";
    }
    if (failed(step))
      return failure();
    steps.push_back(*step);
  }
  return success();
}

FailureOr<std::string> PlanWriter::write() {
  target = TargetAttr::of(module).getChip().getValue();
  if (failed(writeArguments()) || failed(writeBuffers()) || failed(writeSteps()) || failed(writeOutputs()))
    return failure();
  auto arena = host->getAttrOfType<DimsAttr>(kArenaAttr);
  std::string arenaBytes = arena ? exprs.print(arena.getSizes().front()) : "0";
  if (failed(writeSymbols()))
    return failure();
  std::pair<StringRef, std::string> sections[] = {{"version", "1"},
                                                  {"target", jsonString(target)},
                                                  {"symbols", jsonLines(symbols)},
                                                  {"args", jsonLines(arguments)},
                                                  {"buffers", jsonLines(bufferTexts)},
                                                  {"arena_bytes", arenaBytes},
                                                  {"outputs", jsonLines(outputs)},
                                                  {"steps", jsonLines(steps)}};
  SmallVector<std::string> texts;
  for (const auto &[key, value] : sections)
    texts.push_back("  \"" + key.str() + "\": " + value);
  return "{\n" + llvm::join(texts, ",\n") + "\n}\n";
}

static SmallVector<func::FuncOp> findHosts(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(), [](func::FuncOp function) { return !function.isDeclaration(); });
}

namespace {
struct EmitPlanPass : impl::EmitPlanPassBase<EmitPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> hosts = findHosts(getOperation());
    if (hosts.empty())
      return; // kernels by themselves
    if (hosts.size() > 1) {
      getOperation().emitError("expects one host function, but got ") << hosts.size();
      return signalPassFailure();
    }
    PlanWriter writer(getOperation(), hosts.front());
    FailureOr<std::string> plan = writer.write();
    if (failed(plan) || (!output.empty() && failed(writeFile(*plan))))
      return signalPassFailure();
    getOperation()->setAttr(kPlanAttr, StringAttr::get(&getContext(), *plan));
    numSteps += writer.getNumSteps();
  }

  LogicalResult writeFile(StringRef text) {
    std::error_code error;
    llvm::raw_fd_ostream os(output, error, llvm::sys::fs::OF_Text);
    if (error)
      return getOperation().emitError("cannot write '") << output << "': " << error.message();
    os << text;
    return success();
  }
};
} // namespace
} // namespace emmy
