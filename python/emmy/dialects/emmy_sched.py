"""Op classes of the dialect `emmy_sched`, generated from TableGen."""

from ._emmy_sched_ops_gen import *  # noqa: F403
