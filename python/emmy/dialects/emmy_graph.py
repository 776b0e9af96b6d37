"""Op classes of the dialect `emmy_graph`, generated from TableGen."""

from ._emmy_graph_ops_gen import *  # noqa: F403
