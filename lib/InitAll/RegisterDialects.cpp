// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All dialects that a file of any level may use.
#include "dialects/Base/Base.h"
#include "dialects/Fuse/Fuse.h"
#include "dialects/Graph/Graph.h"
#include "dialects/Sched/Sched.h"
#include "dialects/Tile/Tile.h"
#include "emmy/Graph/TorchDialect.h"
#include "emmy/InitAll.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "emmy/Target/Cpu.h"
#include "emmy/Target/Ptx.h"

void emmy::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<BaseDialect, graph::GraphDialect, fuse::FuseDialect, sched::SchedDialect, tile::TileDialect>();
  registry.insert<mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  registry.insert<graph::TorchDialect>();
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  registerLlvmTranslation(registry);
  registerPtxTranslation(registry);
}
