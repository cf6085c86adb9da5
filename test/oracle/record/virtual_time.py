"""An asyncio loop whose time passes only while all tasks wait: hours take no time."""

import asyncio
import selectors
import time
from contextlib import contextmanager
from unittest import mock

# As on a real machine, no two turns of the loop see the same time: what sleeps for 0 s until time
# has passed would never end otherwise.
TURN_S = 1e-6


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout=None):
        ready = super().select(0)
        self.now += TURN_S
        if not ready and timeout:
            self.now += timeout
        return ready


def run(main):
    """Runs what `main()` returns, with `time.monotonic` and `time.time` those of its loop."""
    selector = _Selector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now
    loop._clock_resolution = 1e-9
    with clock(lambda: selector.now):
        try:
            return loop.run_until_complete(main())
        finally:
            loop.close()


@contextmanager
def clock(now):
    """The time of day begins at 0, too: sums of small numbers are exact to the microsecond."""
    with mock.patch.object(time, "monotonic", now), mock.patch.object(time, "time", now):
        yield


class Manual:
    """A clock that is set by hand, in seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now
