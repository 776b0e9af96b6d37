"""The dialect `emmy_sched` under its short name."""

from .emmy_sched import *  # noqa: F403
