// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reader of plan JSON. The first fault wins and is reported with its path (`steps[2].params[0]: unknown buffer 7`);
// after it, reading goes on with defaults, so that the code below stays free of error plumbing.

#ifndef EMMY_LIB_RUNTIME_PLANPARSER_H
#define EMMY_LIB_RUNTIME_PLANPARSER_H

#include "emmy/Runtime/Plan.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace emmy::runtime {

class PlanParser {
public:
  llvm::Expected<Plan> run(const llvm::json::Value &json);

private:
  using Value = llvm::json::Value;
  using Object = llvm::json::Object;
  using Array = llvm::json::Array;

  /// Names the place being read while it lives.
  class Place {
  public:
    Place(PlanParser &parser, const llvm::Twine &name) : parser(parser), length(parser.path.size()) {
      parser.path += name.str();
    }
    ~Place() { parser.path.resize(length); }

  private:
    PlanParser &parser;
    size_t length;
  };

  void fail(const llvm::Twine &message);

  // Typed access; a missing or mistyped value is a fault and yields an empty value.
  const Object &asObject(const Value &value);
  const Array &arrayAt(const Object &object, llvm::StringRef key);
  std::string stringAt(const Object &object, llvm::StringRef key);
  int64_t asInteger(const Value &value, int64_t low, int64_t high);
  int64_t integerAt(const Object &object, llvm::StringRef key, int64_t low, int64_t high);
  int64_t integerAt(const Object &object, llvm::StringRef key, int64_t low, int64_t high, int64_t fallback);
  Expr asExpr(const Value &value);
  Expr exprAt(const Object &object, llvm::StringRef key);
  Expr exprAt(const Object &object, llvm::StringRef key, int64_t fallback);
  std::vector<Expr> exprsAt(const Object &object, llvm::StringRef key, size_t maxCount);
  DType dtypeAt(const Object &object);
  unsigned asBuffer(const Value &value);
  unsigned bufferAt(const Object &object, llvm::StringRef key);
  TensorSpec asTensor(const Object &object);

  // Sections of the plan, in the order they are read.
  void readSymbols(const Object &root);
  SymbolSource readSymbol(const Object &object);
  void readArgs(const Object &root);
  void checkSymbolSources();
  void readBuffers(const Object &root);
  void readOutputs(const Object &root);
  OutputSpec readOutput(const Value &value);
  std::vector<Step> readSteps(const Array &list, unsigned nesting);
  Step readStep(const Object &object, unsigned nesting);
  LaunchStep readLaunch(const Object &object);
  CopyStep readCopy(const Object &object);
  FillStep readFill(const Object &object);
  SwitchStep readSwitch(const Object &object, unsigned nesting);
  ParamSpec readParam(const Object &object);
  void readFloatParam(const Value &value, ParamSpec &param);
  unsigned readTensorMap(const Object &object);
  unsigned internKernel(const Object &object, const LaunchStep &launch);

  Plan plan;
  ExprScope scope;
  std::string path, fault;
  llvm::StringMap<unsigned> kernelIds;
};

} // namespace emmy::runtime

#endif // EMMY_LIB_RUNTIME_PLANPARSER_H
