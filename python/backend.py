"""Build backend: maturin, after a check for Rust. It gives one sentence in place of a failed download of a compiler."""

import shutil
import sys

if shutil.which("cargo") is None:
    sys.exit("scumble is compiled on this machine, which needs Rust 1.95 or later: install it from https://rustup.rs")

from maturin import *  # noqa: E402, F403
