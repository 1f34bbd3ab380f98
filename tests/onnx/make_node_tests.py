#!/usr/bin/env python3
"""Writes node_tests.zip: the cases of the ONNX standard, those that are small enough to keep.

Usage: make_node_tests.py [FOLDER], with a Python that has the package onnx 1.23. The folder is where the cases are
written to, or found where they are there already. Cases whose files are large are left out, the largest first, until
the archive is small enough; left_out.txt in it has their names.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 15_000_000
MOST_OF_A_CASE = 1_000_000
STORED_KINDS = ("simple", "pytorch-converted", "pytorch-operator")  # others come out of programs


def generate(root):
    """Writes the cases of nodes, which the package computes, and copies those that it has as files."""
    from onnx.backend.test import cmd_tools
    from onnx.backend.test.case import node

    nodes = node.collect_testcases()
    cmd_tools.model_test.collect_testcases = lambda: nodes
    cmd_tools.generate_data(argparse.Namespace(output=str(root)))
    for kind in STORED_KINDS:
        shutil.copytree(pathlib.Path(cmd_tools.DATA_DIR) / kind, root / kind)


def cases(root):
    """The folders of all cases, by name."""
    for kind in ("node", *STORED_KINDS):
        for model in sorted((root / kind).glob("*/model.onnx")):
            yield model.parent


def files_of(case):
    return sorted(path for path in case.rglob("*") if path.is_file())


def size_of(case):
    return sum(path.stat().st_size for path in files_of(case))


def write(root, archive, chosen, left_out):
    with zipfile.ZipFile(archive, "w") as file:
        def add(name, data):
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
        for case in chosen:
            for path in files_of(case):
                add(path.relative_to(root).as_posix(), path.read_bytes())
        add("left_out.txt", "".join(f"{case.name}\n" for case in left_out))


def make_archive(root):
    archive = HERE / "node_tests.zip"
    everything = sorted(cases(root), key=size_of)
    chosen = [case for case in everything if size_of(case) <= MOST_OF_A_CASE]
    while True:
        left_out = [case for case in everything if case not in chosen]
        write(root, archive, sorted(chosen), sorted(left_out))
        if archive.stat().st_size <= MOST_BYTES:
            break
        del chosen[-10:]
    print(f"{len(chosen)} cases, {len(left_out)} left out, {archive.stat().st_size} bytes")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
        if not (root / "node").is_dir():
            generate(root)
        make_archive(root)


if __name__ == "__main__":
    main()
