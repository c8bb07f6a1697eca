"""The only place that ends the process."""

from __future__ import annotations

import sys


def main() -> None:
    from butlerctl.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
