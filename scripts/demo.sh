#!/usr/bin/env bash
# demo.sh BIN: every stage of a norm followed by a linear layer and of attention, then both run and compared with eager PyTorch.
set -euo pipefail
bin=$1
norm='nn.Sequential(nn.RMSNorm(64), nn.Linear(64, 32))(torch.randn(16, 64))'
attention='F.scaled_dot_product_attention(*(torch.randn(1, 4, 128, 64) for _ in range(3)), is_causal=True)'
for expression in "$norm" "$attention"; do
  "$bin/emmy" compile -c "$expression" --ir
  "$bin/emmy" run -c "$expression" --check
done
