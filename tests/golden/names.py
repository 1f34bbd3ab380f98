#!/usr/bin/env python3
"""Writes names.txt: for each name of inventory.txt the groups that have golden cases of it, or what elsewhere.txt says.

Run it when a name gets its first cases in a group; make.py does. Usage: names.py
"""

import pathlib

here = pathlib.Path(__file__).parent


def lines_of(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def groups_by_name():
    groups = {}
    for path in sorted((here / "data").glob("*.txt")):
        for name in {line.split(" ")[0] for line in lines_of(path)}:
            groups.setdefault(name, []).append(path.stem)
    return groups


def write():
    groups = groups_by_name()
    elsewhere = dict(line.split(": ", 1) for line in lines_of(here / "elsewhere.txt"))
    lines = ["# By names.py. Each name of inventory.txt: the groups of its golden cases, or what elsewhere.txt says."]
    for name in lines_of(here / "inventory.txt"):
        where = " ".join(["golden", *groups[name]]) if name in groups else elsewhere.get(name, "nowhere")
        lines.append(f"{name}: {where}")
    (here / "names.txt").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    write()
