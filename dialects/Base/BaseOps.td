// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef EMMY_BASE_OPS_TD
#define EMMY_BASE_OPS_TD

include "dialects/Base/BaseAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Base_Op<string mnemonic, list<Trait> traits = []> : Op<Base_Dialect, mnemonic, traits>;

def Base_LaunchOp : Base_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run a kernel on tensors and give the tensors it writes";
  let description = [{
    The kernel may be of any level. `tied` lists pairs (result, operand): that result is written into the operand's buffer.

    ```mlir
    %y = emmy.launch @scale(%x) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs,
                       OptionalAttr<DenseI64ArrayAttr>:$tied);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` (`tied` $tied^)? attr-dict `:` functional-type($inputs, $outputs)";
}

#endif // EMMY_BASE_OPS_TD
