"""The dialect `emmy_tile` under its short name."""

from .emmy_tile import *  # noqa: F403
