"""Command-line arguments of `emmy`, and how errors end it: one clear line on stderr and exit code 2."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from emmy import config
from emmy.errors import CompileError, EmmyError

__all__ = ["build_parser", "main"]

_PROGRAM = """\
  -c "nn.Linear(3, 2)(torch.randn(4, 3))"   the outermost call is traced; torch, nn and F are in scope
  model.py:Model                            Model() (or a function) over example_inputs() of that file, or over --input
  model.mlir                                a module at any level of the compiler
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = argparse.ArgumentParser(prog="emmy", description="Compile PyTorch programs to GPU kernels.")
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    compile_ = _add_program_command(commands, "compile", "print the IR of a program, or write its code")
    compile_.add_argument(
        "--ir",
        nargs="?",
        const="all",
        metavar="STAGE",
        help="print one stage (torch, graph, fuse, sched, tile, nvvm, llvm, ptx, sass), or all but sass without a name",
    )
    compile_.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write what the suffix says: .mlir (the stage that --ir names, else the last), .ll, .ptx, .cubin (one for each "
        "kernel), .sass, or .json, the plan",
    )
    compile_.add_argument(
        "--dump-dir", metavar="DIR", help="write every stage as a numbered file; emmy-opt and emmy compile read the .mlir ones"
    )
    compile_.add_argument(
        "--explain", action="store_true", help="print what is compiled and what is not, what passes chose and why"
    )
    compile_.add_argument("--partial", action="store_true", help="compile what can be compiled, as emmy run does")

    run = _add_program_command(commands, "run", "execute a program on the GPU if there is one, else on the CPU")
    run.add_argument("--check", action="store_true", help="compare with eager PyTorch in its own type and in float64")
    run.add_argument("--simulate", action="store_true", help="execute the hardware program, or FILE.mlir, on the simulator")
    run.add_argument("--schedule", metavar="NAME", help="of --simulate: random, or delay=ROLE to starve a role (random)")
    run.add_argument("--bench", action="store_true", help="time against eager PyTorch and torch.compile")

    commands.add_parser("doctor", help="say what was found on this machine and what is missing")

    cache = commands.add_parser("cache", help="look at or clear the disk cache")
    cache.add_argument(
        "action", nargs="?", default="ls", choices=("ls", "clear"), help="list the entries (default), or delete all"
    )
    return parser


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *unused: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("emmy-compiler")
        except PackageNotFoundError:
            found = "not installed as a package"
        print(f"emmy {found}")
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    options = build_parser().parse_args(arguments)
    config.configure_logging()
    try:
        # Sub-commands import torch, which takes seconds; `--help` and bad arguments do not wait for it.
        module = import_module(f"emmy.cli.{options.command}")
        return int(module.execute(options))
    except CompileError as error:
        print(f"emmy: error: {error}", file=sys.stderr)
        return 2
    except EmmyError as error:
        print(f"emmy: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of a pipe went away; keep the interpreter from flushing into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError, RuntimeError, IndexError) as error:
        # Nobody thought of this one. The traceback is for those who report it.
        logging.getLogger("emmy.cli").debug("the error's origin:", exc_info=True)
        text = " ".join(str(error).split())
        print(f"emmy: error: {type(error).__name__}: {text} (EMMY_LOG=+cli shows where)", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _add_program_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="programs:\n" + _PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", nargs="?", metavar="PROGRAM", help="FILE.py:Class or FILE.mlir")
    parser.add_argument("-c", dest="expression", metavar="EXPR", help="a Python expression whose outermost call is traced")
    parser.add_argument("--input", action="append", default=[], metavar="4x3xbf16", help="a random input for FILE.py:Class")
    parser.add_argument("--dynamic", action="append", default=[], metavar="x.0=m:1:8192", help="a symbolic size of an input")
    parser.add_argument("--target", metavar="NAME", help="sm_90a, sm_80, … or cpu")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs and weights (0)")
    return parser
