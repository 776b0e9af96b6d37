// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form of the ops whose affine maps name axes.
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace emmy::sched;

//===----------------------------------------------------------------------===//
// Pieces of text
//===----------------------------------------------------------------------===//

/// `[m, k]`
static ParseResult parseAxisNames(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseName))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisNames(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << '[';
  llvm::interleaveComma(axes.getAsRange<StringAttr>(), printer.getStream(), [&](StringAttr axis) { printer << axis.getValue(); });
  printer << ']';
}

/// Names of a map's dimensions: the axes, then i0, i1, … for index tiles. Owns what ExprNames points to.
struct DimNames {
  DimNames(ArrayAttr axes, size_t indices) {
    for (size_t i = 0; i < indices; ++i)
      owned.push_back("i" + std::to_string(i));
    for (auto axis : axes.getAsRange<StringAttr>())
      names.push_back(axis.getValue());
    names.append(owned.begin(), owned.end());
  }
  SmallVector<std::string> owned;
  SmallVector<StringRef> names;
};

/// Symbols are global numbers, so a map declares as many as the largest it uses.
static AffineMapAttr makeMap(MLIRContext *context, unsigned dims, ArrayRef<AffineExpr> exprs) {
  unsigned symbols = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  return AffineMapAttr::get(AffineMap::get(dims, symbols, exprs, context));
}

/// `over [axes] (using(%i : type, …))? at expr (inside [exprs] of [sizes])?`
static ParseResult parseAccess(OpAsmParser &parser, ArrayAttr &over, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                               SmallVectorImpl<Type> &types, AffineMapAttr &map, AffineMapAttr &guard, emmy::DimsAttr &limits) {
  if (parser.parseKeyword("over") || parseAxisNames(parser, over))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("using")) &&
      (parser.parseLParen() || parser.parseOperandList(indices) || parser.parseColonTypeList(types) || parser.parseRParen()))
    return failure();
  DimNames dims(over, indices.size());
  if (parser.parseKeyword("at"))
    return failure();
  FailureOr<AffineExpr> expr = emmy::parseExpr(parser, dims.names);
  if (failed(expr))
    return failure();
  map = makeMap(parser.getContext(), dims.names.size(), *expr);
  if (failed(parser.parseOptionalKeyword("inside")))
    return success();
  FailureOr<SmallVector<AffineExpr>> inside = emmy::parseExprs(parser, dims.names);
  if (failed(inside) || parser.parseKeyword("of"))
    return failure();
  FailureOr<SmallVector<AffineExpr>> sizes = emmy::parseExprs(parser);
  if (failed(sizes))
    return failure();
  guard = makeMap(parser.getContext(), dims.names.size(), *inside);
  limits = emmy::DimsAttr::get(parser.getContext(), *sizes);
  return success();
}

static void printAccess(OpAsmPrinter &printer, Operation *op, ArrayAttr over, OperandRange indices, TypeRange types, AffineMapAttr map,
                        AffineMapAttr guard, emmy::DimsAttr limits) {
  printer << "over ";
  printAxisNames(printer, op, over);
  if (!indices.empty())
    printer << " using(" << indices << " : " << types << ')';
  DimNames dims(over, indices.size());
  printer << " at ";
  emmy::printExpr(printer, map.getValue().getResult(0), dims.names);
  if (!guard)
    return;
  printer << " inside ";
  emmy::printExprs(printer, guard.getValue().getResults(), dims.names);
  printer << " of ";
  emmy::printExprs(printer, limits.getSizes());
}

/// `over [axes] at expr`
static ParseResult parseIndex(OpAsmParser &parser, ArrayAttr &over, AffineMapAttr &map) {
  if (parser.parseKeyword("over") || parseAxisNames(parser, over) || parser.parseKeyword("at"))
    return failure();
  FailureOr<AffineExpr> expr = emmy::parseExpr(parser, DimNames(over, 0).names);
  if (failed(expr))
    return failure();
  map = makeMap(parser.getContext(), over.size(), *expr);
  return success();
}

static void printIndex(OpAsmPrinter &printer, Operation *op, ArrayAttr over, AffineMapAttr map) {
  printer << "over ";
  printAxisNames(printer, op, over);
  printer << " at ";
  emmy::printExpr(printer, map.getValue().getResult(0), DimNames(over, 0).names);
}

#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Pipeline: over k init(%z : type, …) {…}
//===----------------------------------------------------------------------===//

ParseResult PipelineOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef axis;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  if (parser.parseKeyword("over") || parser.parseKeyword(&axis))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("init")) && // nothing carried is nothing written
      (parser.parseLParen() || parser.parseOperandList(inits) || parser.parseColonTypeList(types) || parser.parseRParen()))
    return failure();
  if (parser.resolveOperands(inits, types, parser.getCurrentLocation(), state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*state.addRegion()))
    return failure();
  state.addAttribute("axis", parser.getBuilder().getStringAttr(axis));
  state.addTypes(types);
  return success();
}

void PipelineOp::print(OpAsmPrinter &printer) {
  printer << " over " << getAxis();
  if (!getInits().empty())
    printer << " init(" << getInits() << " : " << getInits().getTypes() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"axis"});
  printer << ' ';
  printer.printRegion(getBody());
}

//===----------------------------------------------------------------------===//
// Program: @name(inputs) outs(outputs) axes(m = s0 by 128 grid, …) (schedule #attr)? {…}
//===----------------------------------------------------------------------===//

/// `m = s0 by 128 grid`
static ParseResult parseAxis(OpAsmParser &parser, SmallVectorImpl<Attribute> &axes) {
  StringRef name, kind;
  int64_t block;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  FailureOr<AffineExpr> size = emmy::parseExpr(parser);
  if (failed(size) || parser.parseKeyword("by") || parser.parseInteger(block))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind))
    return failure();
  std::optional<AxisKind> known = symbolizeAxisKind(kind);
  if (!known)
    return parser.emitError(at, "expects grid, serial or whole, but got ") << kind;
  axes.push_back(AxisAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(name), *size, block, *known));
  return success();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments, outputs;
  SmallVector<Attribute> axes, attrs;
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseKeyword("outs") ||
      parser.parseArgumentList(outputs, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseKeyword("axes") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() { return parseAxis(parser, axes); }))
    return failure();
  Attribute schedule;
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    if (parser.parseAttribute(schedule))
      return failure();
    state.addAttribute("schedule", schedule);
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  state.addAttribute("numInputs", builder.getI64IntegerAttr(arguments.size()));
  state.addAttribute("axes", builder.getArrayAttr(axes));
  llvm::append_range(arguments, outputs);
  for (OpAsmParser::Argument &argument : arguments)
    attrs.push_back(argument.attrs ? argument.attrs : builder.getDictionaryAttr({}));
  if (llvm::any_of(attrs, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); }))
    state.addAttribute("argAttrs", builder.getArrayAttr(attrs));
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty()) // `{}` of a program without arguments
    body->emplaceBlock();
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
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
    printer << " by " << axis.getBlock() << ' ' << stringifyAxisKind(axis.getKind());
  });
  printer << ')';
  if (std::optional<Attribute> schedule = getSchedule())
    printer << " schedule " << *schedule;
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "numInputs", "axes", "schedule", "argAttrs"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
