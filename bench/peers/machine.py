"""What is measured on: the machine, the day, the commit."""
import datetime
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def llc_bytes():
    """The largest cache that the first core has."""
    sizes = []
    for size in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        number, unit = re.fullmatch(r"(\d+)([KM]?)", size.read_text().strip()).groups()
        sizes.append(int(number) << {"": 0, "K": 10, "M": 20}[unit])
    return max(sizes, default=32 << 20)


# Of all that a processor says of itself: what makes products faster.
INSTRUCTIONS = ("avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16",
                "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimddp", "bf16", "i8mm", "sve")


def cpu_name():
    """Its name, family and model: virtual machines name a whole line of processors alike."""
    about = Path("/proc/cpuinfo").read_text()
    found = [re.search(rf"^{key}\s*:\s*(.*)$", about, re.M) for key in ("model name", "cpu family", "model")]
    if not all(found):
        return os.uname().machine
    return "{}, family {}, model {}".format(*(one[1] for one in found))


def instructions():
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    has = found[1].split() if found else []
    return [name for name in INSTRUCTIONS if name in has]


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def commit():
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" and changes" if changed else "")


def describe():
    return {"cpu": cpu_name(), "instructions": instructions(), "cores": os.cpu_count(), "llc_bytes": llc_bytes(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "load": os.getloadavg()[0], "kernel": os.uname().release,
            "date": datetime.date.today().isoformat(), "commit": commit()}
