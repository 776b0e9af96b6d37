// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the importers of raw torch ops share: values of the torch dialect as items, one call, and the table of handlers.
#ifndef EMMY_LIB_GRAPH_TORCH_TORCHIMPORT_H
#define EMMY_LIB_GRAPH_TORCH_TORCHIMPORT_H

#include "dialects/Graph/GraphBuilder.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <vector>

namespace emmy::graph::torch {

/// What a value of the torch dialect stands for.
struct Item {
  enum class Kind { None, Unused, Tensor, Size, Float, Bool, Text, List };
  Kind kind = Kind::None;
  mlir::Value tensor;
  mlir::AffineExpr size; ///< an integer, known or symbolic
  double number = 0;
  bool flag = false;
  std::string text;
  std::vector<Item> items;

  static Item of(mlir::Value tensor);
  static Item of(mlir::AffineExpr size);
  static Item unused();
  bool isNone() const { return kind == Kind::None; }
  /// A known integer.
  std::optional<int64_t> getInteger() const;
};

/// The tensor type of `!torch.vtensor<[4,?],bf16>` with these sizes where the text has `?`; null with a reason if there is none.
mlir::RankedTensorType convertType(mlir::Type type, DimsAttr dims, std::string &reason);
std::string describe(mlir::Type type);
bool isTorchType(mlir::Type type, llvm::StringRef prefix = "");

class Call;
using Handler = mlir::LogicalResult (*)(Call &call);

/// How an op is imported. The schema has a letter for each operand, those after `/` may be missing: T tensor, t tensor or none,
/// i known integer, I that or none, s integer, z that or none, n number, N number or none, b bool, B bool or none, l list of integers, L that or none,
/// V list of tensors, v list of tensors or none, S text or none, x anything.
struct Entry {
  llvm::StringRef schema;
  Handler handler = nullptr;
  Function function = Function::cast; ///< for handlers that serve many pointwise ops
};
using Table = llvm::StringMap<Entry>;

void addPointwise(Table &table);
void addCreation(Table &table);
void addReductions(Table &table);
void addViews(Table &table);
void addAssembly(Table &table);
void addProducts(Table &table);
void addNorms(Table &table);
void addIndexing(Table &table);
void addScalars(Table &table);

/// One op under import: its operands as the schema promises them, and its results.
class Call {
public:
  Call(GraphBuilder &builder, mlir::Operation *op, const Entry &entry, std::vector<Item> operands)
      : b(builder), op(op), entry(entry), operands(std::move(operands)) {}

  GraphBuilder &b;
  mlir::Operation *op;
  const Entry &entry;
  std::vector<Item> operands;
  std::vector<Item> results;

  bool has(size_t i) const { return i < operands.size() && !operands[i].isNone(); }
  mlir::Value tensor(size_t i) const { return has(i) ? operands[i].tensor : mlir::Value(); }
  int64_t rank(size_t i) const { return sizesOf(tensor(i)).size(); }
  int64_t integer(size_t i, int64_t otherwise = 0) const { return has(i) ? *operands[i].getInteger() : otherwise; }
  mlir::AffineExpr size(size_t i) const { return operands[i].size; }
  double number(size_t i, double otherwise = 0) const;
  bool flag(size_t i, bool otherwise = false) const { return has(i) ? operands[i].flag : otherwise; }
  llvm::StringRef text(size_t i) const { return has(i) ? llvm::StringRef(operands[i].text) : llvm::StringRef(); }
  Sizes sizes(size_t i) const;
  llvm::SmallVector<mlir::Value> tensors(size_t i) const; ///< null where none
  /// Operand `i` as a tensor; a number becomes a constant of no dimensions.
  mlir::Value value(size_t i) const;
  /// Operand `i` as a dimension, counted from the end if negative; fails out of range.
  mlir::FailureOr<int64_t> dim(size_t i, int64_t rank) const;
  /// Operand `i` as dimensions; none or an empty list is all of them.
  mlir::FailureOr<llvm::SmallVector<int64_t>> dims(size_t i, int64_t rank) const;
  mlir::FailureOr<llvm::SmallVector<int64_t>> integers(size_t i) const;

  /// Declared types; fails where a size is not known.
  mlir::FailureOr<mlir::RankedTensorType> type(size_t result = 0) const;
  /// Types of the tensors that a list result is unpacked to.
  mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>> listTypes() const;

  /// Sets tensor results, converted to the declared element types; results beyond them may not be used.
  mlir::LogicalResult done(llvm::ArrayRef<mlir::Value> values);
  mlir::LogicalResult done(mlir::Value value) { return done(llvm::ArrayRef(value)); }
  mlir::LogicalResult done(Item item);
  mlir::LogicalResult fail(const llvm::Twine &reason) const;
};

/// The declared type of a result of `op`, from its `emmy.dims`.
mlir::FailureOr<mlir::RankedTensorType> getDeclaredType(mlir::OpResult result);
mlir::FailureOr<int64_t> normalizeDim(mlir::Operation *op, int64_t dim, int64_t rank);

} // namespace emmy::graph::torch

#endif // EMMY_LIB_GRAPH_TORCH_TORCHIMPORT_H
