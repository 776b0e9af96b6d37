// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_TILE_TYPES_TD
#define EMMY_TILE_TYPES_TD

include "dialects/Tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Which thread and register of a unit holds which element of a fragment";
  let description = [{
    A register number, a lane and a warp of the unit are each split into digits, first mode fastest; the element's coordinate is
    the sum of digit times stride over all modes. A lane or warp mode whose strides are all zero replicates the element.
    The accumulator of `wgmma` m64n256 is the example.

    ```mlir
    #acc = #emmy_tile.layout<reg = [2:(0,1), 2:(8,0), 32:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>
    ```
  }];
  // Each mode is its size followed by one stride for each dimension.
  let parameters = (ins "int64_t":$rank, ArrayRefParameter<"int64_t">:$reg, ArrayRefParameter<"int64_t">:$lane,
                        ArrayRefParameter<"int64_t">:$warp);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Registers of a thread.
    int64_t getNumRegisters() const;
    /// Warps of the unit.
    int64_t getNumWarps() const;
    /// Of a thread; far more than any thread has, so that sizes fit their types.
    static constexpr int64_t maxRegisters = 65536;
  }];
}

def Tile_FragType : Tile_Type<"Frag", "frag"> {
  let summary = "A tile of elements in the registers of a unit's threads";
  let description = [{ `!emmy_tile.frag<64x256xf32, #acc>`: shape, element type, layout. }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::emmy::tile::LayoutAttr":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_SharedType : Tile_Type<"Shared", "shared"> {
  let summary = "A buffer in shared memory";
  let description = [{
    `!emmy_tile.shared<4x128x64xbf16, swizzle = 128>`: row-major, or with explicit `strides = [8192, 64, 1]` in elements. The
    hardware's swizzle exclusive-ors address bits, so it needs an innermost dimension of exactly one span (32, 64, 128 bytes).
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Row-major buffer.
    static SharedType get(::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType, int64_t swizzle = 0);
    using Base::get;
    /// Bytes from the first element's address to the end of the last's.
    int64_t getSizeInBytes() const;
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    bool isContiguous() const;
  }];
}

def Tile_BarrierType : Tile_Type<"Barrier", "barrier"> {
  let summary = "An array of mbarriers in shared memory";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def Tile_TmapType : Tile_Type<"Tmap", "tmap"> {
  let summary = "A TMA descriptor in kernel parameters";
  let description = [{
    `!emmy_tile.tmap<128x64xbf16, swizzle = 128>`: the box it moves, outermost dimension first. A box dimension of size 1 is
    written out; the box's shape without leading ones is that of the shared buffer it fills.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "The address of elements in global memory";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_Scalar32 : AnyTypeOf<[I32, F32], "i32 or f32">;

#endif // EMMY_TILE_TYPES_TD
