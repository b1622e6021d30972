"""Tests of the package's parts that are not its functions."""

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import scumble

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(not (ROOT / "scumble" / "Cargo.toml").exists(), reason="not in a clone")
def test_the_root_of_a_clone_has_the_installed_package_or_none():
    code = "import scumble; print(scumble.design.__module__)"
    run = lambda *options: subprocess.run(  # noqa: E731
        [sys.executable, *options, "-c", code], cwd=ROOT, capture_output=True, text=True, env={"PATH": ""}
    )
    assert run().stdout == "scumble._design\n"
    refused = run("-S")  # without installed packages
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == "ImportError: the Python package scumble is not installed: pip install ./python"


@pytest.mark.skipif(not (ROOT / "python" / "backend.py").exists(), reason="not in a clone")
def test_a_build_without_rust_is_one_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="needs Rust 1.95 or later: install it from https://rustup.rs"):
        exec((ROOT / "python" / "backend.py").read_text(encoding="utf-8"), {})


def test_the_version_is_that_of_the_distribution():
    assert scumble.__version__ == metadata.version("scumble")
