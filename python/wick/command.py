"""The command `wick` of an environment that the wheel is installed in: it runs the program beside this file."""
import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("wick")


def main():
    """Becomes the program, with this process's arguments. Does not return."""
    if not PROGRAM.exists():
        sys.exit(f"wick: the program {PROGRAM} is missing: install the package again")
    sys.stdout.flush()
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
