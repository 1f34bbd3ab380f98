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


def cpu_name():
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else os.uname().machine


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def commit():
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" and changes" if changed else "")


def describe():
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "llc_bytes": llc_bytes(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "load": os.getloadavg()[0], "kernel": os.uname().release,
            "date": datetime.date.today().isoformat(), "commit": commit()}
