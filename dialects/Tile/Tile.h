// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect `emmy_tile`: the hardware program of one CTA.
#ifndef EMMY_DIALECTS_TILE_TILE_H
#define EMMY_DIALECTS_TILE_TILE_H

#include "dialects/Base/Base.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"

namespace emmy::tile {

/// Where each allocation of a kernel lies in the CTA's dynamic shared memory; the lowering, the plan and the simulator agree on it.
struct SharedPlan {
  llvm::SmallVector<std::pair<AllocOp, int64_t>> offsets; // bytes
  int64_t bytes = 0;
};
SharedPlan planShared(KernelOp kernel);

/// Warps that the roles of `op` occupy, each role starting at a warpgroup where registers are set.
struct RolePlan {
  struct Entry {
    RoleOp role;
    int64_t firstWarp;
    int64_t warps;    // that run the role
    int64_t occupied; // that belong to it, the rest leave at once
    int64_t barrier;  // the named barrier of `sync role`; the hardware has 0 to 15
  };
  llvm::SmallVector<Entry> roles;
  int64_t warps = 0;
  bool setsRegisters = false;
};
RolePlan planRoles(WarpSpecializeOp op);

/// What the hardware takes as the size of a grid along x, y or z.
constexpr int64_t maxGridSize(unsigned dim) { return dim == 0 ? 0x7fffffff : 0xffff; }

} // namespace emmy::tile

#endif // EMMY_DIALECTS_TILE_TILE_H
