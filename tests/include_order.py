#!/usr/bin/env python3
"""tests/include_order.py: checks that no file of src/ or include/weir includes one of a higher floor.

The floors, their public headers and the exceptions stand in one table, under "The floors" of docs/design.md.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<](?P<path>[^">]+)[">]', re.MULTILINE)


def read_floors(text):
    """The table as ([floor, ...], {public header: floor}, [(floor, header or folder that it may include), ...])."""
    table = text.split("## The floors", 1)[1].split("\n## ", 1)[0]
    floors, headers, exceptions = [], {}, []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not (floor := re.fullmatch(r"`(\w+)`", cells[0])):
            continue
        floors.append(floor[1])
        headers.update({f"weir/{name}.h": floor[1] for name in re.findall(r"`(\w+)`", cells[1])})
        exceptions += [(floor[1], path) for path in re.findall(r"`([\w/.]+)`", cells[2])]
    return floors, headers, exceptions


def violations(root, floors, headers, exceptions):
    height = {floor: i for i, floor in enumerate(floors)}

    def floor_of(path):  # None: of no floor (a library's header, a message)
        first = path.split("/", 1)[0]
        return headers.get(path) if first == "weir" else first if first in height else None

    for path in sorted((root / "include/weir").glob("*.h")):
        if f"weir/{path.name}" not in headers and path.name != "weir.h":
            yield f"{path.relative_to(root)} stands on no floor of the table"
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in height:
            yield f"src/{folder.name} is no floor of the table"
    for base in (root / "src", root / "include"):
        for path in sorted(base.rglob("*")):
            name = path.relative_to(base).as_posix()
            # Tests may look at everything, and weir.h includes it.
            if path.suffix not in (".cc", ".h", ".inc") or name.endswith("_test.cc") or name == "weir/weir.h":
                continue
            own = floor_of(name)
            for included in (match["path"] for match in INCLUDE.finditer(path.read_text())):
                other = floor_of(included)
                if own is None or other is None or height[other] <= height[own]:
                    continue
                if not any(own == floor and included.startswith(allowed) for floor, allowed in exceptions):
                    yield f"{path.relative_to(root)} ({own}) includes {included} ({other}), which is higher"


def main():
    floors, headers, exceptions = read_floors((ROOT / "docs/design.md").read_text())
    found = list(violations(ROOT, floors, headers, exceptions))
    if len(floors) < 10:
        found.append("docs/design.md has no table of floors")
    print("\n".join(found) or f"{len(floors)} floors, none includes a higher one")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
