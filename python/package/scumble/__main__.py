"""The command ``scumble``, also as ``python -m scumble``."""

import sys

from . import _native


def main() -> int:
    """Runs the command with the process's arguments, and returns its exit code."""
    return _native.run_command(["scumble", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
