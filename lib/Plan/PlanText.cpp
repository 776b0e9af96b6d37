// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanText.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace emmy {

std::string jsonObject(Fields fields) {
  SmallVector<std::string> texts;
  for (const auto &[key, value] : fields)
    texts.push_back("\"" + key.str() + "\": " + value);
  return "{" + llvm::join(texts, ", ") + "}";
}

std::string jsonList(ArrayRef<std::string> items) { return "[" + llvm::join(items, ", ") + "]"; }

std::string jsonLines(ArrayRef<std::string> items) {
  return items.empty() ? "[]" : "[\n    " + llvm::join(items, ",\n    ") + "\n  ]";
}

std::string jsonString(StringRef text) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::json::Value(llvm::json::fixUTF8(text));
  return result;
}

std::string jsonNumber(int64_t number) { return std::to_string(number); }
std::string jsonBool(bool value) { return value ? "true" : "false"; }

StringRef getDtypeName(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3fn";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (isa<FloatType>(type))
    return type.isBF16() ? "bf16" : type.isF16() ? "f16" : type.isF32() ? "f32" : type.isF64() ? "f64" : "";
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return "";
  if (integer.isUnsigned())
    return integer.getWidth() == 8 ? "u8" : "";
  switch (integer.getWidth()) {
  case 1:
    return "i1";
  case 8:
    return "i8";
  case 16:
    return "i16";
  case 32:
    return "i32";
  case 64:
    return "i64";
  default:
    return "";
  }
}

static StringRef getOperator(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return "+";
  case AffineExprKind::Mul:
    return "*";
  case AffineExprKind::FloorDiv:
    return "floordiv";
  case AffineExprKind::CeilDiv:
    return "ceildiv";
  case AffineExprKind::Mod:
    return "mod";
  default:
    llvm_unreachable("not a binary expression");
  }
}

std::string ExprPrinter::print(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return jsonNumber(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    symbols.insert(symbol.getPosition());
    return "\"s" + std::to_string(symbol.getPosition()) + "\"";
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  auto product = dyn_cast<AffineBinaryOpExpr>(rhs);
  auto isMinusOne = [](AffineExpr e) { return isa<AffineConstantExpr>(e) && cast<AffineConstantExpr>(e).getValue() == -1; };
  if (expr.getKind() == AffineExprKind::Add && product && product.getKind() == AffineExprKind::Mul && isMinusOne(product.getRHS()))
    return jsonList({"\"-\"", print(lhs), print(product.getLHS())});
  return jsonList({"\"" + getOperator(expr.getKind()).str() + "\"", print(lhs), print(rhs)});
}

std::string ExprPrinter::print(ArrayRef<AffineExpr> exprs) {
  return jsonList(llvm::map_to_vector(exprs, [&](AffineExpr expr) { return print(expr); }));
}

} // namespace emmy
