#!/usr/bin/env python3
"""Make the virtual environment of the peers, with the newest package of each:  install.py FOLDER

What cannot be installed is named and left out; the measurements name it as well.
"""
import subprocess
import sys
import venv
from pathlib import Path

# onnx writes the models that onnxruntime and openvino run, and has the standard's classics; threadpoolctl
# says which kernels numpy's BLAS has chosen.
PACKAGES = ["numpy", "threadpoolctl", "torch", "onnx", "onnxruntime", "openvino", "tinygrad"]


def main():
    folder = Path(sys.argv[1])
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)

    def install(packages):
        command = [python, "-m", "pip", "install", "-q", "--upgrade", *packages]
        return subprocess.run(command, check=False).returncode == 0

    # Together, so that their versions fit each other; one by one where one of them spoils it.
    if not install(PACKAGES):
        missing = [package for package in PACKAGES if not install([package])]
        print("not installed here, or not up to date:", ", ".join(missing), file=sys.stderr)


main()
