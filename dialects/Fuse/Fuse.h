// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect `emmy_fuse`: kernels over named axes.
#ifndef EMMY_DIALECTS_FUSE_FUSE_H
#define EMMY_DIALECTS_FUSE_FUSE_H

#include "dialects/Base/Base.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "dialects/Fuse/FuseDialect.h.inc"
#include "dialects/Fuse/FuseEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Fuse/FuseAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Fuse/FuseTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Fuse/FuseOps.h.inc"

namespace emmy::fuse {

/// Symbols that sizes, strides and maps of `kernel` use, ascending: its scalar arguments on the CPU target, after the tensors.
llvm::SmallVector<unsigned> getUsedSymbols(KernelOp kernel);

} // namespace emmy::fuse

#endif // EMMY_DIALECTS_FUSE_FUSE_H
