"""The command ``scumble``, also as ``python -m scumble``."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command with the process's arguments, and returns its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command has handlers of its own
    return _native.run_command(["scumble", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
