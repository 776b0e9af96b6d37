"""A barrier that expects the wrong number of bytes is found by one rule under every schedule, wherever it says so."""

from __future__ import annotations

import pytest
from emmy import ir
from emmy._mlir_libs import _emmy
from emmy.passmanager import PassManager

# Two copies fill two tiles on one barrier.
PROGRAM = """
#bind = #emmy.bind_tma<0, sizes = [32, 64], strides = [128], offset = 0, l2_promotion = 256>
#rows = #emmy_tile.layout<reg = [4:(0,1)], lane = [16:(0,4), 2:(1,0)], warp = [4:(2,0)]>
!map = !emmy_tile.tmap<8x64xbf16, swizzle = 128>
!ring = !emmy_tile.shared<2x8x64xbf16, swizzle = 128>
!tile = !emmy_tile.shared<8x64xbf16, swizzle = 128>
!frag = !emmy_tile.frag<8x64xbf16, #rows>
!bar = !emmy_tile.barrier<1>
emmy_tile.kernel @two_copies(%x: !map {emmy.bind = #bind},
                            %y: !emmy_tile.ptr<bf16> {emmy.bind = #emmy.bind_pointer<1>}) grid [1, 1, 1] warps 8
    attributes {emmy.simulate = {buffers = [{type = tensor<32x64xbf16>, fill = "random 1"},
                                            {type = tensor<32x64xbf16>, expect = "same 0"}]}} {
  %tiles = emmy_tile.alloc : !ring
  %full = emmy_tile.alloc : !bar
  %empty = emmy_tile.alloc : !bar
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %steps = arith.constant 2 : i32
  emmy_tile.one_thread {
    emmy_tile.barrier_init %full, 1 : !bar
    emmy_tile.barrier_init %empty, 1 : !bar
    emmy_tile.fence_barrier_init
  }
  emmy_tile.sync cta
  emmy_tile.warp_specialize {
    emmy_tile.role "producer" warps 1 {
      emmy_tile.one_thread {
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %p = arith.andi %k, %c1 : i32
          %free = arith.xori %p, %c1 : i32
          emmy_tile.barrier_wait %empty[%c0] parity %free : !bar
          BEFORE
          %row = arith.muli %k, %c16 : i32
          %row1 = arith.addi %row, %c8 : i32
          %tile = emmy_tile.subview %tiles[%c0, %c0, %c0] : !ring -> !tile
          %tile1 = emmy_tile.subview %tiles[%c1, %c0, %c0] : !ring -> !tile
          emmy_tile.tma_load %x[%row, %c0] to %tile, %full[%c0] : !map, !tile, !bar
          MIDDLE
          emmy_tile.tma_load %x[%row1, %c0] to %tile1, %full[%c0] : !map, !tile, !bar
          AFTER
        }
      }
    }
    emmy_tile.role "consumer" warpgroups 1 {
      %s0 = arith.constant 64 : i64
      %s1 = arith.constant 1 : i64
      %c1024 = arith.constant 1024 : i32
      %c512 = arith.constant 512 : i32
      scf.for %k = %c0 to %steps step %c1 : i32 {
        %p = arith.andi %k, %c1 : i32
        emmy_tile.barrier_wait %full[%c0] parity %p : !bar
        %tile = emmy_tile.subview %tiles[%c0, %c0, %c0] : !ring -> !tile
        %tile1 = emmy_tile.subview %tiles[%c1, %c0, %c0] : !ring -> !tile
        %v = emmy_tile.load_shared %tile : !tile -> !frag
        %v1 = emmy_tile.load_shared %tile1 : !tile -> !frag
        emmy_tile.sync unit
        emmy_tile.barrier_arrive %empty[%c0] : !bar
        %at = arith.muli %k, %c1024 : i32
        %at1 = arith.addi %at, %c512 : i32
        %offset = arith.extsi %at : i32 to i64
        %offset1 = arith.extsi %at1 : i32 to i64
        emmy_tile.store %v to %y[%offset] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
        emmy_tile.store %v1 to %y[%offset1] strides(%s0, %s1) vector 4 : !frag, !emmy_tile.ptr<bf16>
      }
    }
  }
}
"""

ARRIVE = "emmy_tile.barrier_arrive %full[%c0] : !bar"
SCHEDULES = ["random", "delay=producer", "delay=consumer", "delay=async"]


def expect(count: int) -> str:
    return f"emmy_tile.barrier_expect %full[%c0], {count} : !bar"


def rule(schedule: str, seed: int = 0, before: str = "", middle: str = "", after: str = "") -> str:
    """The rule that is broken; empty if none is."""
    options = f"schedules=1 seed={seed} schedule={schedule}"
    with ir.Context() as context:
        _emmy.register_dialects(context)
        module = ir.Module.parse(PROGRAM.replace("BEFORE", before).replace("MIDDLE", middle).replace("AFTER", after))
        try:
            PassManager.parse(f"builtin.module(emmy-simulate{{{options}}})").run(module.operation)
        except ir.MLIRError as error:
            return str(error).split("violates ")[1].split(":")[0]
    return ""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("place", ["before", "middle", "after"])
def test_all_bytes(place: str, schedule: str) -> None:
    assert rule(schedule, **{place: expect(2048)}) == ""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("place", ["before", "middle", "after"])
@pytest.mark.parametrize("arrival", [ARRIVE, expect(16), expect(1024)])
def test_too_few_bytes(arrival: str, place: str, schedule: str) -> None:
    assert {rule(schedule, seed, **{place: arrival}) for seed in range(3)} == {"expect-tx"}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_too_many_bytes(schedule: str) -> None:
    assert rule(schedule, before=expect(4096)) == "deadlock"
