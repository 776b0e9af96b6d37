"""Small PTX kernels for the GPU tests of the runtime."""

from __future__ import annotations

HEADER = """
.version 8.0
.target sm_90
.address_size 64
"""

# y[i] = x[i] * factor for i < n.
SCALE = """
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 factor)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  .reg .f32 %f<4>;
  griddepcontrol.wait;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [factor];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p ret;
  mul.wide.s32 %d3, %r5, 4;
  add.s64 %d4, %d1, %d3;
  add.s64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%d5], %f3;
  griddepcontrol.launch_dependents;
  ret;
}
"""

# out[ctaid] = 100 * cluster size + rank in the cluster.
RANKS = """
.visible .entry ranks(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mad.lo.s32 %r3, %r2, 100, %r1;
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %d2, %r4, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r3;
  ret;
}
"""

# Writes 7 to the last word of 200,000 bytes of shared memory and reads it back.
SHARED = """
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, dynamic;
  mov.u32 %r2, 7;
  st.shared.u32 [%r1+199996], %r2;
  ld.shared.u32 %r3, [%r1+199996];
  st.global.u32 [%d1], %r3;
  ret;
}
"""

# One warp fetches the 4x8 box of f32 at (row, column) through TMA and stores it densely.
BOX = """
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 column, .param .u32 row)
{
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b64 barrier;
  .reg .pred %p;
  .reg .b32 %r<10>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [column];
  ld.param.u32 %r2, [row];
  mov.u64 %d2, map;
  cvta.param.u64 %d2, %d2;
  mov.u32 %r3, tile;
  mov.u32 %r4, barrier;
  mov.u32 %r5, %tid.x;
  setp.ne.u32 %p, %r5, 0;
  @%p bra ready;
  mbarrier.init.shared::cta.b64 [%r4], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r4], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%d2, {%r1, %r2}], [%r4];
ready:
  bar.sync 0;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%r4], 0;
  @!%p bra wait;
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r3, %r6;
  ld.shared.u32 %r8, [%r7];
  mul.wide.u32 %d4, %r5, 4;
  add.s64 %d5, %d1, %d4;
  st.global.u32 [%d5], %r8;
  ret;
}
"""


def ptx(*kernels: str) -> bytes:
    return (HEADER + "".join(kernels)).encode()
