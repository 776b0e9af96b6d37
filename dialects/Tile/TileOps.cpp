// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form of kernels and roles, and the plans that lowering and simulator share.
#include "dialects/Tile/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace emmy::tile;

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Kernel: @name(args) grid [x, y, z] (cluster n)? warps n (pdl)? attributes {…} {…}
//===----------------------------------------------------------------------===//

/// `{}` reads as a region without a block, which is an empty program.
static void ensureBlock(Region &region) {
  if (region.empty())
    region.emplaceBlock();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  int64_t cluster = 1, warps;
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseKeyword("grid"))
    return failure();
  FailureOr<SmallVector<AffineExpr>> grid = emmy::parseExprs(parser);
  if (failed(grid) || (succeeded(parser.parseOptionalKeyword("cluster")) && parser.parseInteger(cluster)) ||
      parser.parseKeyword("warps") || parser.parseInteger(warps))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("pdl")))
    state.addAttribute("pdl", builder.getUnitAttr());
  state.addAttribute("grid", DimsAttr::get(parser.getContext(), *grid));
  state.addAttribute("cluster", builder.getI64IntegerAttr(cluster));
  state.addAttribute("warps", builder.getI64IntegerAttr(warps));
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<Attribute> attrs;
  for (OpAsmParser::Argument &argument : arguments)
    attrs.push_back(argument.attrs ? argument.attrs : builder.getDictionaryAttr({}));
  if (llvm::any_of(attrs, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); }))
    state.addAttribute("argAttrs", builder.getArrayAttr(attrs));
  Region &body = *state.addRegion();
  if (parser.parseRegion(body, arguments))
    return failure();
  ensureBlock(body);
  for (OpAsmParser::Argument &argument : arguments)
    if (body.getNumArguments() < arguments.size())
      body.addArgument(argument.type, parser.getEncodedSourceLoc(parser.getNameLoc()));
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBody().getArguments(), printer, [&](BlockArgument argument) {
    DictionaryAttr attrs;
    if (std::optional<ArrayAttr> all = getArgAttrs())
      attrs = cast<DictionaryAttr>((*all)[argument.getArgNumber()]);
    printer.printRegionArgument(argument, attrs ? attrs.getValue() : ArrayRef<NamedAttribute>());
  });
  printer << ") grid ";
  emmy::printExprs(printer, getGrid().getSizes());
  if (getCluster() != 1)
    printer << " cluster " << getCluster();
  printer << " warps " << getWarps();
  if (getPdl())
    printer << " pdl";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "grid", "cluster", "warps", "pdl", "argAttrs"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

Attribute KernelOp::getBinding(unsigned index) {
  std::optional<ArrayAttr> attrs = getArgAttrs();
  return attrs && index < attrs->size() ? cast<DictionaryAttr>((*attrs)[index]).get(kBindAttr) : Attribute();
}

//===----------------------------------------------------------------------===//
// Role: "name" (warps | warpgroups) n (registers n)? {…}
//===----------------------------------------------------------------------===//

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  StringRef unit;
  int64_t units, registers;
  SMLoc at;
  if (parser.parseAttribute(name, "name", state.attributes) || parser.getCurrentLocation(&at) || parser.parseKeyword(&unit))
    return failure();
  if (unit != "warps" && unit != "warpgroups")
    return parser.emitError(at, "expects 'warps' or 'warpgroups', but got '") << unit << "'";
  if (parser.parseInteger(units))
    return failure();
  state.addAttribute("units", builder.getI64IntegerAttr(units));
  state.addAttribute("warpgroups", builder.getBoolAttr(unit == "warpgroups"));
  if (succeeded(parser.parseOptionalKeyword("registers"))) {
    if (parser.parseInteger(registers))
      return failure();
    state.addAttribute("registers", builder.getI64IntegerAttr(registers));
  }
  Region &body = *state.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(body))
    return failure();
  ensureBlock(body);
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << (getWarpgroups() ? " warpgroups " : " warps ") << getUnits();
  if (std::optional<uint64_t> registers = getRegisters())
    printer << " registers " << *registers;
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"name", "units", "warpgroups", "registers"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/true);
}

//===----------------------------------------------------------------------===//
// Shared plans
//===----------------------------------------------------------------------===//

SharedPlan emmy::tile::planShared(KernelOp kernel) {
  SharedPlan plan;
  auto place = [&](AllocOp alloc, int64_t align, int64_t bytes) {
    plan.bytes = llvm::alignTo(plan.bytes, align);
    plan.offsets.emplace_back(alloc, plan.bytes);
    plan.bytes += bytes;
  };
  // Swizzled buffers first: their alignment would otherwise leave holes.
  for (bool swizzled : {true, false})
    kernel.walk([&](AllocOp alloc) {
      auto shared = dyn_cast<SharedType>(alloc.getType());
      if ((shared && shared.getSwizzle() > 0) != swizzled)
        return;
      if (shared)
        place(alloc, swizzled ? 1024 : 16, shared.getSizeInBytes());
      else
        place(alloc, 8, 8 * cast<BarrierType>(alloc.getType()).getCount());
    });
  return plan;
}

RolePlan emmy::tile::planRoles(WarpSpecializeOp op) {
  RolePlan plan;
  for (auto role : op.getBody().getOps<RoleOp>())
    plan.setsRegisters |= role.getRegisters().has_value();
  for (auto role : op.getBody().getOps<RoleOp>()) {
    int64_t warps = role.getUnits() * (role.getWarpgroups() ? 4 : 1);
    if (plan.setsRegisters || role.getWarpgroups())
      plan.warps = llvm::alignTo(plan.warps, 4);
    int64_t occupied = plan.setsRegisters ? llvm::alignTo(warps, 4) : warps;
    plan.roles.push_back({role, plan.warps, warps, occupied, /*barrier=*/0});
    plan.warps += occupied;
  }
  // Number 0 is the CTA's, then one for each warpgroup, then one for each role.
  for (auto [i, entry] : llvm::enumerate(plan.roles))
    entry.barrier = 1 + llvm::divideCeil(plan.warps, 4) + i;
  return plan;
}
