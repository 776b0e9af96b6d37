"""What every test shares: random numbers start from one seed, so that a test sees the same inputs alone and among others."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)
