// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Between the layout attribute of emmy_tile and the layout maths.
#ifndef EMMY_TILE_LAYOUT_H
#define EMMY_TILE_LAYOUT_H

#include "dialects/Tile/Tile.h"
#include "emmy/Support/Math/Layout.h"
#include "emmy/Support/Math/Swizzle.h"
#include "emmy/Support/Math/Tma.h"

namespace emmy::tile {

inline math::Layout toLayout(LayoutAttr attr) {
  const int64_t rank = attr.getRank();
  auto modes = [rank](llvm::ArrayRef<int64_t> flat) {
    math::Modes modes;
    for (size_t i = 0; i < flat.size(); i += rank + 1)
      modes.push_back({flat[i], flat.slice(i + 1, rank).vec()});
    return modes;
  };
  return math::Layout(rank, modes(attr.getReg()), modes(attr.getLane()), modes(attr.getWarp()));
}

inline LayoutAttr toAttr(mlir::MLIRContext *context, const math::Layout &layout) {
  auto flat = [](const math::Modes &modes) {
    llvm::SmallVector<int64_t> flat;
    for (const math::Mode &mode : modes) {
      flat.push_back(mode.size);
      flat.append(mode.strides.begin(), mode.strides.end());
    }
    return flat;
  };
  return LayoutAttr::get(context, layout.rank(), flat(layout.reg()), flat(layout.lane()), flat(layout.warp()));
}

inline math::SharedLayout toSharedLayout(SharedType type) {
  return {type.getShape().vec(), type.getStrides().vec(), type.getElementBytes(), type.getSwizzle()};
}

inline math::TmaBox toBox(TmapType type) {
  return {type.getBox().vec(), type.getElementType().getIntOrFloatBitWidth() / 8, type.getSwizzle()};
}

} // namespace emmy::tile

#endif // EMMY_TILE_LAYOUT_H
