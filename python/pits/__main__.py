"""python -m pits: the command line, by the program that comes with the package."""
import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("pits")


def main() -> None:
    if not PROGRAM.exists():
        sys.exit(f"pits: the program {PROGRAM} is not here: this package was built without it")
    os.execv(PROGRAM, ["pits", *sys.argv[1:]])


if __name__ == "__main__":
    main()
