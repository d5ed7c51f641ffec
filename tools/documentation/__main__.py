"""Stage the documentation into a folder: `python -m tools.documentation [FOLDER]`."""

import argparse
from pathlib import Path

from tools.documentation.stage import OUT, stage


def main() -> None:
    """Parse the arguments and stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=OUT)
    parser.add_argument(
        "--without-figures",
        action="store_true",
        help="draw nothing, and carry no notebook out (seconds instead of minutes)",
    )
    arguments = parser.parse_args()
    stage(arguments.folder, figures=not arguments.without_figures)


if __name__ == "__main__":
    main()
