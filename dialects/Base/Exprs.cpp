// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Affine expressions over named axes and symbols: text form, and the sizes and strides of tensor types.
#include "dialects/Base/Base.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace emmy {

/// Symbols that text may name; their spelling is fixed, so a fixed table is enough.
static constexpr unsigned kMaxSymbols = 256;

FailureOr<AffineExpr> parseExpr(AsmParser &parser, ExprNames dims) {
  MLIRContext *context = parser.getContext();
  SmallVector<std::string> spelled;
  for (unsigned i = 0; i < kMaxSymbols; ++i)
    spelled.push_back("s" + std::to_string(i));
  SmallVector<std::pair<StringRef, AffineExpr>> names;
  for (auto [i, name] : llvm::enumerate(dims))
    names.emplace_back(name, getAffineDimExpr(i, context));
  for (auto [i, name] : llvm::enumerate(spelled))
    names.emplace_back(name, getAffineSymbolExpr(i, context));
  AffineExpr expr;
  if (parser.parseAffineExpr(names, expr))
    return failure();
  return expr;
}

FailureOr<SmallVector<AffineExpr>> parseExprs(AsmParser &parser, ExprNames dims) {
  SmallVector<AffineExpr> exprs;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<AffineExpr> expr = parseExpr(parser, dims);
    if (failed(expr))
      return failure();
    exprs.push_back(*expr);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  return exprs;
}

static void printBinary(raw_ostream &os, AffineBinaryOpExpr expr, StringRef op, ExprNames dims) {
  auto printSide = [&](AffineExpr side) {
    bool nested = isa<AffineBinaryOpExpr>(side) &&
                  !(expr.getKind() == AffineExprKind::Add && side.getKind() != AffineExprKind::Add);
    os << (nested ? "(" : "");
    printExpr(os, side, dims);
    os << (nested ? ")" : "");
  };
  printSide(expr.getLHS());
  os << ' ' << op << ' ';
  printSide(expr.getRHS());
}

/// `a + b`, or `a - b` where the right side is negative.
static void printSum(raw_ostream &os, AffineBinaryOpExpr expr, ExprNames dims) {
  auto isNegative = [](AffineExpr e) { return isa<AffineConstantExpr>(e) && cast<AffineConstantExpr>(e).getValue() < 0; };
  auto product = dyn_cast<AffineBinaryOpExpr>(expr.getRHS());
  bool negatedProduct = product && product.getKind() == AffineExprKind::Mul && isNegative(product.getRHS());
  if (!negatedProduct && !isNegative(expr.getRHS()))
    return printBinary(os, expr, "+", dims);
  printExpr(os, expr.getLHS(), dims);
  os << " - ";
  AffineExpr negated = -expr.getRHS();
  bool nested = negated.getKind() == AffineExprKind::Add;
  os << (nested ? "(" : "");
  printExpr(os, negated, dims);
  os << (nested ? ")" : "");
}

void printExpr(raw_ostream &os, AffineExpr expr, ExprNames dims) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    os << cast<AffineConstantExpr>(expr).getValue();
    return;
  case AffineExprKind::SymbolId:
    os << 's' << cast<AffineSymbolExpr>(expr).getPosition();
    return;
  case AffineExprKind::DimId: {
    unsigned position = cast<AffineDimExpr>(expr).getPosition();
    if (position < dims.size())
      os << dims[position];
    else
      os << 'd' << position;
    return;
  }
  case AffineExprKind::Add:
    return printSum(os, cast<AffineBinaryOpExpr>(expr), dims);
  case AffineExprKind::Mul:
    return printBinary(os, cast<AffineBinaryOpExpr>(expr), "*", dims);
  case AffineExprKind::FloorDiv:
    return printBinary(os, cast<AffineBinaryOpExpr>(expr), "floordiv", dims);
  case AffineExprKind::CeilDiv:
    return printBinary(os, cast<AffineBinaryOpExpr>(expr), "ceildiv", dims);
  case AffineExprKind::Mod:
    return printBinary(os, cast<AffineBinaryOpExpr>(expr), "mod", dims);
  }
}

void printExpr(AsmPrinter &printer, AffineExpr expr, ExprNames dims) { printExpr(printer.getStream(), expr, dims); }

void printExprs(AsmPrinter &printer, ArrayRef<AffineExpr> exprs, ExprNames dims) {
  printer << '[';
  llvm::interleaveComma(exprs, printer.getStream(), [&](AffineExpr expr) { printExpr(printer, expr, dims); });
  printer << ']';
}

SmallVector<AffineExpr> getSizes(RankedTensorType type) {
  if (auto dims = dyn_cast_or_null<DimsAttr>(type.getEncoding()))
    return llvm::to_vector(dims.getSizes());
  SmallVector<AffineExpr> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? AffineExpr() : getAffineConstantExpr(size, type.getContext()));
  return sizes;
}

RankedTensorType getTensorType(ArrayRef<AffineExpr> sizes, Type element) {
  SmallVector<int64_t> shape;
  bool symbolic = false, unknown = false;
  for (AffineExpr size : sizes) {
    auto constant = dyn_cast_or_null<AffineConstantExpr>(size);
    bool isStatic = constant && constant.getValue() >= 0; // text may hold a negative size, which no shape can
    shape.push_back(isStatic ? constant.getValue() : ShapedType::kDynamic);
    symbolic |= !isStatic;
    unknown |= !size;
  }
  Attribute encoding = symbolic && !unknown ? DimsAttr::get(element.getContext(), sizes) : Attribute();
  return RankedTensorType::get(shape, element, encoding);
}

SmallVector<AffineExpr> getContiguousStrides(ArrayRef<AffineExpr> sizes, MLIRContext *context) {
  SmallVector<AffineExpr> strides(sizes.size());
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * sizes[i];
  }
  return strides;
}

} // namespace emmy
