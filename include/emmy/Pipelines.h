// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pipelines at the borders between levels, one source file each in lib/Pipelines; registered by text name there.
#ifndef EMMY_PIPELINES_H
#define EMMY_PIPELINES_H

namespace emmy {

void registerTorchToGraphPipeline(); // --emmy-torch-to-graph
void registerGraphToFusePipeline();  // --emmy-graph-to-fuse, --emmy-fuse
void registerFuseToSchedPipeline();  // --emmy-fuse-to-sched, --emmy-schedule
void registerSchedToTilePipeline();  // --emmy-sched-to-tile
void registerTileToNvvmPipeline();   // --emmy-tile-to-nvvm
void registerTorchToNvvmPipeline();  // --emmy-torch-to-nvvm
void registerFuseToCpuPipeline();    // --emmy-fuse-to-cpu

} // namespace emmy

#endif // EMMY_PIPELINES_H
