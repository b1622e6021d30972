"""Stand-in for the Python package in a clone's root, where this folder of the Rust crate has the package's name.

Python would otherwise import the folder as an empty package. The stand-in loads the installed package.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

root = Path(__file__).resolve().parent.parent
installed = PathFinder.find_spec(__name__, [folder for folder in sys.path if Path(folder).resolve() != root])
if installed is None or installed.loader is None:
    raise ImportError("the Python package scumble is not installed: pip install ./python")
sys.modules[__name__] = module_from_spec(installed)
installed.loader.exec_module(sys.modules[__name__])
