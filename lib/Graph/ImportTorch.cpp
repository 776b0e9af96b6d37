// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In: functions whose bodies are raw torch-dialect ops in generic form, on opaque `!torch.…` types.
// Out: the same functions on builtin tensors, of emmy_graph ops. Constants, lists and sizes leave nothing behind.
// Assumes: value semantics (no in-place op), sizes of dynamic dimensions given by `emmy.dims` or torch.bind_symbolic_shape.
// Refuses: ops that are not in the table, unsigned and complex elements, sizes without an expression.
// Numerics: PyTorch's; types of results are torch-mlir's.
#include "Torch/TorchImport.h"
#include "emmy/Graph/Passes.h"

#define DEBUG_TYPE "emmy-import-torch"

using namespace mlir;

namespace emmy::graph {
#define GEN_PASS_DEF_IMPORTTORCHPASS
#include "emmy/Graph/Passes.h.inc"

using namespace torch;

static constexpr StringLiteral kDimsAttr = "emmy.dims";

static Table buildTable() {
  Table table;
  addScalars(table);
  addPointwise(table);
  addCreation(table);
  addReductions(table);
  addViews(table);
  addAssembly(table);
  addProducts(table);
  addNorms(table);
  addIndexing(table);
  return table;
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

static bool isTensor(const Item &item) { return item.kind == Item::Kind::Tensor; }
static bool isInteger(const Item &item) { return item.kind == Item::Kind::Size; }

static bool isNumber(const Item &item) {
  return isInteger(item) || item.kind == Item::Kind::Float || item.kind == Item::Kind::Bool;
}

static bool isListOf(const Item &item, bool (*isElement)(const Item &)) {
  return item.kind == Item::Kind::List && llvm::all_of(item.items, isElement);
}

static bool matchesLetter(char letter, const Item &item) {
  if (item.isNone())
    return StringRef("tINBLSzx").contains(letter);
  switch (letter) {
  case 'T':
  case 't': return isTensor(item);
  case 'i':
  case 'I': return item.getInteger().has_value();
  case 's':
  case 'z': return isInteger(item);
  case 'n':
  case 'N': return isNumber(item);
  case 'b':
  case 'B': return item.kind == Item::Kind::Bool;
  case 'l':
  case 'L': return isListOf(item, isInteger);
  case 'V': return isListOf(item, isTensor) && !item.items.empty();
  case 'v': return isListOf(item, [](const Item &e) { return isTensor(e) || e.isNone(); });
  case 'S': return item.kind == Item::Kind::Text;
  default: return true;
  }
}

static StringRef describeLetter(char letter) {
  switch (letter) {
  case 'T':
  case 't': return "a tensor";
  case 'i':
  case 'I': return "a known integer";
  case 's':
  case 'z': return "an integer";
  case 'n':
  case 'N': return "a number";
  case 'b':
  case 'B': return "a boolean";
  case 'l':
  case 'L': return "a list of integers";
  case 'S': return "a string";
  default: return "a list of tensors";
  }
}

static LogicalResult verifySchema(Call &call) {
  StringRef schema = call.entry.schema;
  if (schema == "*")
    return success();
  auto [required, optional] = schema.split('/');
  std::string letters = (required + optional).str();
  if (call.operands.size() < required.size() || call.operands.size() > letters.size())
    return call.fail("expects " + Twine(required.size()) + " to " + Twine(letters.size()) + " operands, but got " +
                     Twine(call.operands.size()));
  for (auto [i, item] : llvm::enumerate(call.operands))
    if (!matchesLetter(letters[i], item))
      return call.fail("expects " + describeLetter(letters[i]) + " as operand #" + Twine(i) +
                       (item.kind == Item::Kind::Unused ? ", but that result is not supported" : ""));
  return success();
}

//===----------------------------------------------------------------------===//
// Symbols that torch-mlir's exporter declares by ops
//===----------------------------------------------------------------------===//

static void setDims(func::FuncOp func, Value value, DimsAttr dims) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    func.setArgAttr(argument.getArgNumber(), kDimsAttr, dims);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> all(op->getNumResults(), UnitAttr::get(op->getContext()));
  if (auto known = op->getAttrOfType<ArrayAttr>(kDimsAttr); known && known.size() == all.size())
    all = llvm::to_vector(known);
  all[result.getResultNumber()] = dims;
  op->setAttr(kDimsAttr, ArrayAttr::get(op->getContext(), all));
}

/// Symbols get numbers in the order of their torch.symbolic_int ops; ranges go to `emmy.symbols`.
static llvm::DenseMap<Value, AffineExpr> readSymbols(func::FuncOp func) {
  llvm::DenseMap<Value, AffineExpr> symbols;
  Builder b(func.getContext());
  SmallVector<NamedAttribute> ranges;
  for (Operation &op : func.getBody().front()) {
    StringRef name = op.getName().getStringRef();
    if (name == "torch.symbolic_int" && op.getNumResults() == 1) {
      unsigned number = symbols.size();
      symbols[op.getResult(0)] = b.getAffineSymbolExpr(number);
      auto least = op.getAttrOfType<IntegerAttr>("min_val"), most = op.getAttrOfType<IntegerAttr>("max_val");
      if (least && most)
        ranges.push_back(b.getNamedAttr("s" + std::to_string(number), b.getArrayAttr({b.getI64IntegerAttr(least.getInt()),
                                                                                      b.getI64IntegerAttr(most.getInt())})));
    }
    auto map = op.getAttrOfType<AffineMapAttr>("shape_expressions");
    if (name != "torch.bind_symbolic_shape" || !map || op.getNumOperands() != map.getValue().getNumSymbols() + 1)
      continue;
    SmallVector<AffineExpr> replacements, sizes;
    for (Value operand : op.getOperands().drop_front())
      replacements.push_back(symbols.lookup(operand));
    if (llvm::is_contained(replacements, AffineExpr()))
      continue;
    for (AffineExpr size : map.getValue().getResults())
      sizes.push_back(size.replaceDimsAndSymbols({}, replacements));
    setDims(func, op.getOperand(0), DimsAttr::get(func.getContext(), sizes));
  }
  if (!ranges.empty() && !func->hasAttr(kSymbolsAttr))
    func->setAttr(kSymbolsAttr, b.getDictionaryAttr(ranges));
  return symbols;
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds the body of a function op by op in a fresh block.
class FunctionImport {
public:
  FunctionImport(func::FuncOp func, const Table &table) : func(func), table(table), builder(func.getContext()) {}

  LogicalResult run();
  int64_t getNumImported() const { return numImported; }

private:
  LogicalResult importArguments(Block &from, Block &to);
  LogicalResult importOp(Operation &op);
  LogicalResult importReturn(Operation &op);
  LogicalResult refuse(Operation &op);

  func::FuncOp func;
  const Table &table;
  OpBuilder builder;
  llvm::DenseMap<Value, Item> items;
  int64_t numImported = 0;
};
} // namespace

/// A size that no tensor shows stays an argument, as an i64 that names its symbol.
LogicalResult FunctionImport::importArguments(Block &from, Block &to) {
  for (BlockArgument argument : from.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (isTorchType(argument.getType(), "int")) {
      auto symbol = func.getArgAttrOfType<StringAttr>(i, "emmy.symbol");
      unsigned number = 0;
      if (!symbol || !symbol.getValue().starts_with("s") || symbol.getValue().drop_front().getAsInteger(10, number))
        return func.emitError() << "argument #" << i << " is an integer that no 'emmy.symbol' such as \"s0\" names";
      items[argument] = Item::of(getAffineSymbolExpr(number, func.getContext()));
      to.addArgument(builder.getI64Type(), argument.getLoc());
      continue;
    }
    std::string reason;
    RankedTensorType type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      type = convertType(argument.getType(), func.getArgAttrOfType<DimsAttr>(i, kDimsAttr), reason);
    if (!type)
      return func.emitError() << "argument #" << i << " of type " << argument.getType() << " " << reason;
    items[argument] = Item::of(to.addArgument(type, argument.getLoc()));
    func.removeArgAttr(i, kDimsAttr);
  }
  return success();
}

/// The name of a torch op; torch-mlir wraps those that it does not define itself in torch.operator.
static StringRef getTorchName(Operation &op) {
  StringRef name = op.getName().getStringRef();
  auto wrapped = op.getAttrOfType<StringAttr>("name");
  return name == "torch.operator" && wrapped ? wrapped.getValue() : name;
}

LogicalResult FunctionImport::refuse(Operation &op) {
  if (!op.getName().getStringRef().starts_with("torch."))
    return op.emitError() << "'" << op.getName() << "' stands among ops of the torch dialect";
  InFlightDiagnostic diagnostic = op.emitError() << "'" << getTorchName(op) << "' is not supported: " << "(" << op.getOperandTypes()
                                                 << ") -> (" << op.getResultTypes() << ")";
  diagnostic.attachNote() << "replace it by supported operations, or leave it out of the compiled part: torch.compile(backend=\"emmy\") "
                             "runs such operations eagerly";
  return diagnostic;
}

LogicalResult FunctionImport::importReturn(Operation &op) {
  SmallVector<Value> results;
  GraphBuilder b(builder, op.getLoc());
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    const Item &item = items[operand];
    if (item.kind != Item::Kind::Tensor && item.kind != Item::Kind::Size)
      return op.emitError() << "returns operand #" << i << " of type " << operand.getType() << ", which is neither a tensor nor a size";
    results.push_back(isTensor(item) ? item.tensor : b.size(item.size));
  }
  func::ReturnOp::create(builder, op.getLoc(), results);
  return success();
}

LogicalResult FunctionImport::importOp(Operation &op) {
  StringRef name = getTorchName(op);
  if (isa<func::ReturnOp>(op))
    return importReturn(op);
  if (name == "torch.symbolic_int" || name == "torch.bind_symbolic_shape" || op.getNumRegions())
    return op.getNumRegions() ? refuse(op) : success();
  bool isOurs = name.consume_front("torch.");
  auto entry = table.find(name);
  if (!isOurs || entry == table.end())
    return refuse(op);
  std::vector<Item> operands;
  for (Value operand : op.getOperands())
    operands.push_back(items.lookup(operand));
  GraphBuilder b(builder, op.getLoc());
  Call call(b, &op, entry->second, std::move(operands));
  if (failed(verifySchema(call)) || failed(entry->second.handler(call)))
    return failure();
  if (call.results.size() != op.getNumResults())
    return call.fail("expects " + Twine(call.results.size()) + " results, but has " + Twine(op.getNumResults()));
  for (auto [result, item] : llvm::zip(op.getResults(), call.results))
    items[result] = item;
  ++numImported;
  return success();
}

LogicalResult FunctionImport::run() {
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "has control flow; only straight-line code can be imported";
  for (auto [value, symbol] : readSymbols(func))
    items[value] = Item::of(symbol);
  Block &old = func.getBody().front();
  Block *fresh = new Block;
  func.getBody().push_back(fresh);
  builder.setInsertionPointToEnd(fresh);
  bool isGood = succeeded(importArguments(old, *fresh)) && llvm::all_of(old, [&](Operation &op) { return succeeded(importOp(op)); });
  if (!isGood || fresh->empty() || !isa<func::ReturnOp>(fresh->back())) {
    fresh->erase();
    return failure();
  }
  old.erase();
  func.setType(FunctionType::get(func.getContext(), fresh->getArgumentTypes(), fresh->back().getOperandTypes()));
  return success();
}

static bool usesTorch(func::FuncOp func) {
  auto isTorch = [](Type type) { return isTorchType(type); };
  return !func.isExternal() && (llvm::any_of(func.getArgumentTypes(), isTorch) || llvm::any_of(func.getResultTypes(), isTorch) ||
                                llvm::any_of(func.getBody().getOps(), [](Operation &op) {
                                  return op.getName().getStringRef().starts_with("torch.");
                                }));
}

namespace {
struct ImportTorchPass : impl::ImportTorchPassBase<ImportTorchPass> {
  using Base::Base;
  void runOnOperation() override {
    if (!usesTorch(getOperation()))
      return;
    Table table = buildTable();
    FunctionImport import(getOperation(), table);
    if (failed(import.run()))
      signalPassFailure();
    numImported += import.getNumImported();
  }
};
} // namespace
} // namespace emmy::graph
