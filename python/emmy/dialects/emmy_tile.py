"""Op classes of the dialect `emmy_tile`, generated from TableGen."""

from ._emmy_tile_ops_gen import *  # noqa: F403
