"""Op classes of the dialect `emmy_fuse`, generated from TableGen."""

from ._emmy_fuse_ops_gen import *  # noqa: F403
