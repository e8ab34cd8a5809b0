#!/usr/bin/env python3
"""How much of the interface that TensorFlow 1 programs use Weir has.

tests/data/api.tsv lists the names, with the number of public repositories that use each. A name counts as present when
the table of names (python/weir/names/names.tsv) has a place for it, seen through the `tensorflow` alias.

    tools/api_coverage.py             a table by area
    tools/api_coverage.py --missing   the missing names, most used first
    tools/api_coverage.py --minimum N fails when fewer than N names are present

Names below LEFT_OUT are not wanted (docs/python.md); they are counted by themselves.
"""

import argparse
import os
import sys

LEFT_OUT = ("tf.contrib.eager.", "tf.contrib.tensor_forest.", "tf.keras.", "tf.python.keras.",
            "tf.examples.image_retraining.")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def symbols():
    """(name, repositories) of every name of api.tsv."""
    with open(os.path.join(ROOT, "tests", "data", "api.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return [(row[0], int(row[1])) for row in rows]


def present(symbol):
    """Whether Weir has ``symbol``, such as "tf.nn.relu"."""
    from weir.names import is_absent, tensorflow_alias

    try:
        return not is_absent(tensorflow_alias.find(symbol))
    except (AttributeError, ImportError):
        return False


def area(symbol):
    parts = symbol.split(".")
    if len(parts) == 2:
        return "tf"
    return ".".join(parts[:3] if parts[1] in ("contrib", "examples") and len(parts) > 3 else parts[:2])


def coverage():
    """[(symbol, repositories, present)]."""
    return [(symbol, repos, present(symbol)) for symbol, repos in symbols()]


def print_table(rows):
    areas = {}
    for symbol, repos, there in rows:
        entry = areas.setdefault(area(symbol), [0, 0, 0, 0])
        entry[0] += 1
        entry[1] += there
        entry[2] += repos
        entry[3] += repos * there
    total = [sum(entry[i] for entry in areas.values()) for i in range(4)]
    print(f"{'area':28} {'names':>6} {'present':>8} {'by use':>7}")
    for name, (names, there, uses, used) in [*sorted(areas.items(), key=lambda item: -item[1][2]), ("all", total)]:
        print(f"{name:28} {names:6} {there:8} {used / uses:7.0%}")
    left_out = [symbol for symbol, _, there in rows if not there and symbol.startswith(LEFT_OUT)]
    wanted = len(rows) - len(left_out)
    print(f"{'all but what is left out':28} {wanted:6} {total[1]:8}")


def main():
    sys.path.append(os.path.join(ROOT, "python"))  # an installed package comes first
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="list the missing names, most used first")
    parser.add_argument("--minimum", type=int, default=0, help="fail when fewer names are present")
    arguments = parser.parse_args()
    rows = coverage()
    if arguments.missing:
        for symbol, repos, there in rows:
            if not there:
                print(f"{repos:4} {symbol}{' (left out)' if symbol.startswith(LEFT_OUT) else ''}")
    else:
        print_table(rows)
    count = sum(there for _, _, there in rows)
    if count < arguments.minimum:
        sys.exit(f"{count} names are present, fewer than {arguments.minimum}")


if __name__ == "__main__":
    main()
