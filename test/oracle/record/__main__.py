"""Records what the original Python packages answer to generated inputs, as fixtures of the tests.

See ../README.md. Usage, from the root of the repository: python test/oracle/record
"""

import random

import backoff
import breaker
import chunks
import cooling
import dispatch
import progress
import sizes
import windows
from fixture import write

SEED = 1

RECORDERS = {
    "sizes": sizes.record,
    "chunks": chunks.record,
    "backoff": backoff.record,
    "dispatch": dispatch.record,
    "windows": windows.record,
    "breaker": breaker.record,
    "cooling": cooling.record,
    "progress": progress.record,
}

for name, record in RECORDERS.items():
    # One source of chance for each: a change of one recorder leaves the others' files alone.
    source = random.Random(f"{SEED} {name}")
    cases = record(source)
    print(f"{name}: {len(cases)} cases, {write(name, cases)} bytes")
