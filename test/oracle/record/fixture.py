"""Fixtures: one compressed line of JSON for each case, the same bytes at each recording."""

import gzip
import json
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "fixtures"


def write(name, cases):
    """Writes the cases. Returns the size of the file."""
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    data = gzip.compress("\n".join(lines).encode(), 9, mtime=0)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.jsonl.gz").write_bytes(data)
    return len(data)


def ms(seconds):
    """Milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)
