"""lit configuration: run with `lit test/lit` in an environment where emmy is installed (or EMMY_BIN names its tools' folder)."""

import os
import shutil
import sysconfig
from pathlib import Path

import lit.formats

config.name = "emmy"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get("EMMY_LIT_OUT", os.path.join(config.test_source_root, "Output"))

site = Path(sysconfig.get_paths()["purelib"])
folders = [os.environ.get("EMMY_BIN"), site / "emmy" / "bin", site / "llvm" / "bin", site / "mlir" / "bin"]
path = os.pathsep.join([str(folder) for folder in folders if folder] + [os.environ["PATH"]])
config.environment["PATH"] = path
config.substitutions.append(("FileCheck", "FileCheck --enable-var-scope --allow-unused-prefixes=false"))
if shutil.which("ptxas", path=path):
    config.available_features.add("ptxas")
