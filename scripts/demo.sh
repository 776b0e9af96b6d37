#!/usr/bin/env bash
# demo.sh BIN: every stage of a norm followed by a linear layer and of attention, then both run and compared with eager PyTorch.
set -euo pipefail
bin=$1
names=('RMSNorm and a linear layer' 'Causal attention')
programs=(
  'nn.Sequential(nn.RMSNorm(64), nn.Linear(64, 32))(torch.randn(16, 64))'
  'F.scaled_dot_product_attention(*(torch.randn(1, 4, 128, 64) for _ in range(3)), is_causal=True)'
)
heading() { printf '\n%s\n%s\n' "========== $1" "           $2"; }

summary=()
for i in "${!programs[@]}"; do
  heading "${names[i]}: every stage on the way to an H200 (sm_90a)" "emmy compile -c '${programs[i]}' --target sm_90a --ir"
  "$bin/emmy" compile -c "${programs[i]}" --target sm_90a --ir
  heading "${names[i]}: run on the GPU if there is one, else on the CPU, and compared with eager PyTorch" "emmy run -c '${programs[i]}' --check"
  verdict=$("$bin/emmy" run -c "${programs[i]}" --check) || { printf '%s\n' "$verdict"; exit 1; }
  printf '%s\n' "$verdict"
  summary+=("${names[i]}: ${verdict//$'\n'/; }")
done
heading "What came out" "the programs' results against eager PyTorch, whose own error is against float64"
printf '%s\n' "${summary[@]}"
