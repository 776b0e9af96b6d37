// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Text form and rules of the types.
#include "dialects/Tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace emmy::tile;

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
}

/// `64x256xf32`
static ParseResult parseShaped(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element));
}

static void printShaped(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    printer << size << 'x';
  printer << element;
}

static ParseResult parseSwizzle(AsmParser &parser, int64_t &swizzle) {
  return failure(parser.parseKeyword("swizzle") || parser.parseEqual() || parser.parseInteger(swizzle));
}

/// The product of positive numbers if it is at most `limit`.
static std::optional<int64_t> productWithin(ArrayRef<int64_t> numbers, int64_t limit) {
  int64_t product = 1;
  for (int64_t number : numbers) {
    if (number > limit / product)
      return std::nullopt;
    product *= number;
  }
  return product;
}

static LogicalResult verifySwizzle(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                   int64_t swizzle) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expects a swizzle of 0, 32, 64 or 128 bytes, but got " << swizzle;
  int64_t bytes = shape.empty() ? 0 : shape.back() * element.getIntOrFloatBitWidth() / 8;
  if (swizzle && bytes != swizzle)
    return emitError() << "expects an innermost dimension of " << swizzle << " bytes under this swizzle, but got " << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Type FragType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  LayoutAttr layout;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseShaped(parser, shape, element) || parser.parseComma() || parser.parseAttribute(layout) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<FragType>(at, parser.getContext(), shape, element, layout);
}

void FragType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getShape(), getElementType());
  printer << ", " << getLayout() << '>';
}

LogicalResult FragType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                               LayoutAttr layout) {
  if (!element.isIntOrFloat())
    return emitError() << "expects integer or float elements, but got " << element;
  int64_t rank = layout.getRank();
  if (static_cast<int64_t>(shape.size()) != rank)
    return emitError() << "expects a layout of " << shape.size() << " dimensions, but got " << rank;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t last = 0;
    for (ArrayRef<int64_t> modes : {layout.getReg(), layout.getLane(), layout.getWarp()})
      for (size_t i = 0; i < modes.size(); i += rank + 1)
        last += (modes[i] - 1) * modes[i + 1 + dim];
    if (last + 1 != shape[dim])
      return emitError() << "expects a layout that covers " << shape[dim] << " elements of dimension " << dim << ", but it covers "
                         << last + 1;
  }
  if (!productWithin(shape, std::numeric_limits<int32_t>::max()))
    return emitError() << "expects less than 2^31 elements";
  return success();
}

//===----------------------------------------------------------------------===//
// Shared buffers
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

SharedType SharedType::get(ArrayRef<int64_t> shape, Type element, int64_t swizzle) {
  return get(element.getContext(), shape, element, rowMajor(shape), swizzle);
}

bool SharedType::isContiguous() const { return ArrayRef<int64_t>(rowMajor(getShape())) == getStrides(); }

int64_t SharedType::getSizeInBytes() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(getShape(), getStrides()))
    last += (size - 1) * stride;
  return (last + 1) * getElementBytes();
}

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  int64_t swizzle = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseShaped(parser, shape, element))
    return {};
  strides = rowMajor(shape);
  while (succeeded(parser.parseOptionalComma())) {
    if (failed(parser.parseOptionalKeyword("strides"))) {
      if (parseSwizzle(parser, swizzle))
        return {};
      continue;
    }
    strides.clear();
    auto parseStride = [&]() { return parser.parseInteger(strides.emplace_back()); };
    if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SharedType>(at, parser.getContext(), shape, element, strides, swizzle);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getShape(), getElementType());
  if (!isContiguous()) {
    printer << ", strides = [";
    llvm::interleaveComma(getStrides(), printer.getStream());
    printer << ']';
  }
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  printer << '>';
}

LogicalResult SharedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 ArrayRef<int64_t> strides, int64_t swizzle) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return emitError() << "expects elements of whole bytes, but got " << element;
  if (shape.empty() || llvm::any_of(shape, [](int64_t size) { return size < 1; }))
    return emitError() << "expects positive sizes";
  if (strides.size() != shape.size() || strides.back() != 1)
    return emitError() << "expects " << shape.size() << " strides, the last of them 1";
  int64_t last = 0, limit = std::numeric_limits<int32_t>::max() / 8;
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    if (stride < 0 || size > limit || (stride && size - 1 > (limit - last) / stride))
      return emitError() << "expects strides of at least 0 and less than 2^28 elements in all";
    last += (size - 1) * stride;
  }
  return verifySwizzle(emitError, shape, element, swizzle);
}

//===----------------------------------------------------------------------===//
// Barriers and pointers
//===----------------------------------------------------------------------===//

LogicalResult BarrierType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t count) {
  if (count < 1 || count > 65536)
    return emitError() << "expects 1 to 65536 barriers, but got " << count;
  return success();
}

LogicalResult PtrType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (!element.isIntOrFloat() || (element.getIntOrFloatBitWidth() % 8 && !element.isInteger(1)))
    return emitError() << "expects elements of whole bytes or i1, but got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// TMA descriptors
//===----------------------------------------------------------------------===//

Type TmapType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type element;
  int64_t swizzle = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parseShaped(parser, box, element) ||
      (succeeded(parser.parseOptionalComma()) && parseSwizzle(parser, swizzle)) || parser.parseGreater())
    return {};
  return parser.getChecked<TmapType>(at, parser.getContext(), box, element, swizzle);
}

void TmapType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getBox(), getElementType());
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  printer << '>';
}

LogicalResult TmapType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> box, Type element,
                               int64_t swizzle) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return emitError() << "expects elements of whole bytes, but got " << element;
  if (box.empty() || box.size() > 5)
    return emitError() << "expects a box of 1 to 5 dimensions, but got " << box.size();
  for (int64_t size : box)
    if (size < 1 || size > 256)
      return emitError() << "expects box sizes from 1 to 256, but got " << size;
  if (box.back() * element.getIntOrFloatBitWidth() / 8 % 16)
    return emitError() << "expects an innermost box dimension of a multiple of 16 bytes, but got "
                       << box.back() * element.getIntOrFloatBitWidth() / 8;
  return verifySwizzle(emitError, box, element, swizzle);
}
