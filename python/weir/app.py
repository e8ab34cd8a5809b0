"""tf.app: running a program's main function with its flags parsed."""

import sys

from weir import flags

__all__ = ["flags", "run"]


def run(main=None, argv=None):
    """Parses the flags, calls `main` and exits with what it returns.

    `main` (default: the function `main` of the program) gets the name of the program and what is no known flag.
    `argv` (default: sys.argv) begins with the name of the program.
    """
    rest = _parse_flags(argv)
    main = main or sys.modules["__main__"].main
    sys.exit(main(rest))


def _parse_flags(argv=None):
    """Parses the flags of the program, those that it defines with absl included; returns what is left."""
    rest = flags.FLAGS(list(sys.argv if argv is None else argv))
    absl_flags = sys.modules.get("absl.flags")
    if absl_flags is not None and absl_flags is not flags:
        rest = absl_flags.FLAGS(rest, known_only=True)
    return rest
