// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form of the ops whose affine maps name axes.
#include "dialects/Fuse/Fuse.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace emmy::fuse;

#define GET_OP_CLASSES
#include "dialects/Fuse/FuseOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Pieces of text
//===----------------------------------------------------------------------===//

/// `[m, k]`
static ParseResult parseAxisNames(OpAsmParser &parser, SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  });
}

static void printAxisNames(OpAsmPrinter &printer, ArrayRef<StringAttr> axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer.getStream(), [&](StringAttr axis) { printer << axis.getValue(); });
  printer << ']';
}

static SmallVector<StringAttr> toAxes(ArrayAttr attr) { return llvm::to_vector(attr.getAsRange<StringAttr>()); }

static ArrayAttr toArray(Builder &builder, ArrayRef<StringAttr> axes) {
  return builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
}

/// Names of a map's dimensions: the axes, then i0, i1, … for indirect indices. Owns what ExprNames points to.
struct DimNames {
  DimNames(ArrayRef<StringAttr> axes, size_t indices) {
    for (size_t i = 0; i < indices; ++i)
      owned.push_back("i" + std::to_string(i));
    for (StringAttr axis : axes)
      names.push_back(axis.getValue());
    names.append(owned.begin(), owned.end());
  }
  SmallVector<std::string> owned;
  SmallVector<StringRef> names;
};

/// Symbols are global numbers, so a map declares as many as the largest it uses.
static AffineMap makeMap(MLIRContext *context, unsigned dims, ArrayRef<AffineExpr> exprs) {
  unsigned symbols = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  return AffineMap::get(dims, symbols, exprs, context);
}

/// `over [axes] (using(%i : type, …))? at [exprs]`
static ParseResult parseAccess(OpAsmParser &parser, OperationState &state, SmallVectorImpl<StringAttr> &axes,
                               SmallVectorImpl<Value> &indices) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  if (parser.parseKeyword("over") || parseAxisNames(parser, axes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("using")) &&
      (parser.parseLParen() || parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
       parser.parseRParen() || parser.resolveOperands(operands, types, parser.getCurrentLocation(), indices)))
    return failure();
  DimNames dims(axes, indices.size());
  if (parser.parseKeyword("at"))
    return failure();
  FailureOr<SmallVector<AffineExpr>> exprs = emmy::parseExprs(parser, dims.names);
  if (failed(exprs))
    return failure();
  AffineMap map = makeMap(parser.getContext(), dims.names.size(), *exprs);
  state.addAttribute("map", AffineMapAttr::get(map));
  if (succeeded(parser.parseOptionalKeyword("guarded")))
    state.addAttribute("guarded", parser.getBuilder().getUnitAttr());
  return success();
}

static void printAccess(OpAsmPrinter &printer, ArrayRef<StringAttr> axes, OperandRange indices, AffineMap map, bool guarded) {
  printer << " over ";
  printAxisNames(printer, axes);
  if (!indices.empty())
    printer << " using(" << indices << " : " << indices.getTypes() << ')';
  printer << " at ";
  emmy::printExprs(printer, map.getResults(), DimNames(axes, indices.size()).names);
  if (guarded)
    printer << " guarded";
}

/// Axes of a map's or contraction's result, in the order of the kernel around `parser`'s position: that kernel is still being
/// parsed, so the order is that of first occurrence, refined by the verifier.
static ParseResult parseResultType(OpAsmParser &parser, Type &type) {
  return failure(parser.parseArrow() || parser.parseType(type));
}

//===----------------------------------------------------------------------===//
// Load, store, index
//===----------------------------------------------------------------------===//

ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand source;
  SmallVector<StringAttr> axes;
  SmallVector<Value> indices;
  RankedTensorType type;
  if (parser.parseOperand(source) || parseAccess(parser, state, axes, indices) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperand(source, type, state.operands))
    return failure();
  state.addOperands(indices);
  state.addTypes(ValueType::get(parser.getContext(), axes, type.getElementType()));
  return success();
}

void LoadOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSource();
  printAccess(printer, getType().getAxes(), getIndices(), getMap(), getGuarded());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map", "guarded"});
  printer << " : " << getSource().getType();
}

ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand value, target;
  SmallVector<StringAttr> axes;
  SmallVector<Value> indices;
  Type valueType, targetType;
  if (parser.parseOperand(value) || parser.parseKeyword("to") || parser.parseOperand(target) ||
      parseAccess(parser, state, axes, indices) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(valueType) || parser.parseComma() || parser.parseType(targetType) ||
      parser.resolveOperand(value, valueType, state.operands) || parser.resolveOperand(target, targetType, state.operands))
    return failure();
  state.addOperands(indices);
  state.addAttribute("over", toArray(parser.getBuilder(), axes));
  return success();
}

void StoreOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue() << " to " << getTarget();
  printAccess(printer, toAxes(getOver()), getIndices(), getMap(), getGuarded());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map", "guarded", "over"});
  printer << " : " << getValue().getType() << ", " << getTarget().getType();
}

ParseResult IndexOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<StringAttr> axes;
  if (parser.parseKeyword("over") || parseAxisNames(parser, axes) || parser.parseKeyword("at"))
    return failure();
  FailureOr<AffineExpr> expr = emmy::parseExpr(parser, DimNames(axes, 0).names);
  if (failed(expr) || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.addAttribute("map", AffineMapAttr::get(makeMap(parser.getContext(), axes.size(), *expr)));
  state.addTypes(ValueType::get(parser.getContext(), axes, parser.getBuilder().getI64Type()));
  return success();
}

void IndexOp::print(OpAsmPrinter &printer) {
  printer << " over ";
  printAxisNames(printer, getType().getAxes());
  printer << " at ";
  emmy::printExpr(printer, getMap().getResult(0), DimNames(getType().getAxes(), 0).names);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map"});
}

//===----------------------------------------------------------------------===//
// Map, reduce, contract, fold
//===----------------------------------------------------------------------===//

/// `(%a, %b) : (types) -> result type {region}`
ParseResult MapOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> types;
  Type result;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) || parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseColon() || parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) && (parser.parseTypeList(types) || parser.parseRParen()))
    return failure();
  if (parseResultType(parser, result) ||
      parser.resolveOperands(inputs, types, parser.getCurrentLocation(), state.operands))
    return failure();
  state.addTypes(result);
  return parser.parseRegion(*state.addRegion());
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " : (" << getInputs().getTypes() << ") -> " << getType() << ' ';
  printer.printRegion(getBody());
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef kind;
  SMLoc at = parser.getCurrentLocation();
  OpAsmParser::UnresolvedOperand input;
  SmallVector<StringAttr> axes;
  Type type, result;
  if (parser.parseKeyword(&kind))
    return failure();
  std::optional<Combiner> combiner = symbolizeCombiner(kind);
  if (!combiner)
    return parser.emitError(at, "expects add, mul, max, min, any or all, but got ") << kind;
  if (parser.parseOperand(input) || parser.parseKeyword("over") || parseAxisNames(parser, axes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) || parseResultType(parser, result) ||
      parser.resolveOperand(input, type, state.operands))
    return failure();
  state.addAttribute("kind", CombinerAttr::get(parser.getContext(), *combiner));
  state.addAttribute("over", toArray(parser.getBuilder(), axes));
  state.addTypes(result);
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyCombiner(getKind()) << ' ' << getInput() << " over ";
  printAxisNames(printer, toAxes(getOver()));
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kind", "over"});
  printer << " : " << getInput().getType() << " -> " << getType();
}

ParseResult ContractOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand lhs, rhs;
  SmallVector<StringAttr> axes;
  Type lhsType, rhsType, result;
  if (parser.parseOperand(lhs) || parser.parseComma() || parser.parseOperand(rhs) || parser.parseKeyword("over") ||
      parseAxisNames(parser, axes) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.parseLParen() || parser.parseType(lhsType) || parser.parseComma() || parser.parseType(rhsType) ||
      parser.parseRParen() || parseResultType(parser, result) || parser.resolveOperand(lhs, lhsType, state.operands) ||
      parser.resolveOperand(rhs, rhsType, state.operands))
    return failure();
  state.addAttribute("over", toArray(parser.getBuilder(), axes));
  state.addTypes(result);
  return success();
}

void ContractOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getLhs() << ", " << getRhs() << " over ";
  printAxisNames(printer, toAxes(getOver()));
  printer.printOptionalAttrDict((*this)->getAttrs(), {"over"});
  printer << " : (" << getLhs().getType() << ", " << getRhs().getType() << ") -> " << getType();
}

ParseResult FoldOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef axis;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  if (parser.parseKeyword("over") || parser.parseKeyword(&axis) || parser.parseKeyword("init") || parser.parseLParen() ||
      parser.parseOperandList(inits) || parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(inits, types, parser.getCurrentLocation(), state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*state.addRegion()))
    return failure();
  state.addAttribute("axis", parser.getBuilder().getStringAttr(axis));
  state.addTypes(types);
  return success();
}

void FoldOp::print(OpAsmPrinter &printer) {
  printer << " over " << getAxis() << " init(" << getInits() << " : " << getInits().getTypes() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"axis"});
  printer << ' ';
  printer.printRegion(getBody());
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> inputs, arguments, outputs;
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(inputs, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseKeyword("outs") ||
      parser.parseArgumentList(outputs, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true))
    return failure();
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef axis;
    if (parser.parseKeyword(&axis) || parser.parseEqual())
      return failure();
    FailureOr<AffineExpr> size = emmy::parseExpr(parser);
    if (failed(size))
      return failure();
    axes.push_back(AxisAttr::get(parser.getContext(), builder.getStringAttr(axis), *size));
    return success();
  };
  if (parser.parseKeyword("axes") || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseAxis) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  state.addAttribute("numInputs", builder.getI64IntegerAttr(inputs.size()));
  state.addAttribute("axes", builder.getArrayAttr(axes));
  llvm::append_range(arguments, inputs);
  llvm::append_range(arguments, outputs);
  SmallVector<Attribute> attrs;
  for (OpAsmParser::Argument &argument : arguments)
    attrs.push_back(argument.attrs ? argument.attrs : builder.getDictionaryAttr({}));
  if (llvm::any_of(attrs, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); }))
    state.addAttribute("argAttrs", builder.getArrayAttr(attrs));
  return parser.parseRegion(*state.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  auto printArguments = [&](ArrayRef<BlockArgument> arguments) {
    printer << '(';
    llvm::interleaveComma(arguments, printer, [&](BlockArgument argument) {
      DictionaryAttr attrs;
      if (std::optional<ArrayAttr> all = getArgAttrs())
        attrs = cast<DictionaryAttr>((*all)[argument.getArgNumber()]);
      printer.printRegionArgument(argument, attrs ? attrs.getValue() : ArrayRef<NamedAttribute>());
    });
    printer << ')';
  };
  printArguments(getInputs());
  printer << " outs";
  printArguments(getOutputs());
  printer << " axes(";
  llvm::interleaveComma(getAxes().getAsRange<AxisAttr>(), printer, [&](AxisAttr axis) {
    printer << axis.getName().getValue() << " = ";
    emmy::printExpr(printer, axis.getSize());
  });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "numInputs", "axes", "argAttrs"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
