// RUN: emmy-opt %s -split-input-file -verify-diagnostics --emmy-verify-graph-form
// Each rule of the level names the pass that should have removed the op.

func.func @torch_op(%x: !torch.vtensor<[4],f32>) {
  // expected-error @below {{'torch.aten.silu' op violates graph form: no_torch_op}}
  // expected-note @below {{--emmy-import-torch imports ops of the torch dialect}}
  %y = "torch.aten.silu"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return
}

// -----

func.func @composite_op(%x: tensor<4xf32>) {
  // expected-error @below {{'emmy_graph.pointwise' op violates graph form: no_composite_op}}
  // expected-note @below {{--emmy-decompose replaces composite ops by primitives}}
  %y = emmy_graph.pointwise silu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @foreign_op(%x: tensor<4xf32>) {
  // expected-error @below {{'arith.addf' op violates graph form: no_foreign_op}}
  // expected-note @below {{no pass of this level removes it}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return
}

// -----

func.func @size_without_expression(%x: tensor<?xf32>) {
  // expected-error @below {{'emmy_graph.permute' op violates graph form: sizes_have_expressions}}
  // expected-note @below {{--emmy-import-torch gives every dynamic size an expression in #emmy.dims}}
  %y = emmy_graph.permute %x dims [0] : tensor<?xf32> -> tensor<?xf32>
  return
}
