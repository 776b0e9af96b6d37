"""The dialect `emmy_graph` under its short name."""

from .emmy_graph import *  # noqa: F403
