"""What every test shares: random numbers start from one seed, so that a test sees the same inputs alone and among others.
What does not compile fails, where a user's program would run eagerly with a note.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def compiles(request: pytest.FixtureRequest) -> Iterator[None]:
    notes: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "does not compile" in record.getMessage():
                notes.append(record.getMessage())

    listener = Listener()
    logger = logging.getLogger("emmy.compiler")
    logger.addHandler(listener)
    yield
    logger.removeHandler(listener)
    if notes and not request.node.get_closest_marker("fails_late"):
        pytest.fail(notes[0])
