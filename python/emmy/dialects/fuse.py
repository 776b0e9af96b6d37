"""The dialect `emmy_fuse` under its short name."""

from .emmy_fuse import *  # noqa: F403
