"""tinker: until when a 429 closes the gate, and for how long it counts as recent."""

from unittest import mock

import asyncio

from tinker.types import EncodedTextChunk, ImageChunk, ModelInput

import virtual_time
from fixture import ms
from originals import holder, sampling_client

CASES = 1_200
SMALL = 128 * 1024


def record(source):
    return [_case(source) for _ in range(CASES)]


def _case(source):
    """Requests that are all in flight before the first 429 of them comes back."""
    sizes = [10, 1_000, SMALL - 1, SMALL, SMALL + 1, SMALL * 4]
    rejections = [
        {"at": at, "bytes": source.choice(sizes)}
        for at in sorted(source.sample(range(100, 12_000, 25), source.randint(1, 5)))
    ]
    # Never at the time of a rejection, or when what it began ends: either might come first.
    looks = sorted(source.sample(range(63, 30_000, 50), 8))
    return {"rejections": rejections, "looks": virtual_time.run(lambda: _play(rejections, looks))}


async def _play(rejections, looks):
    limits = holder()
    seen = []

    async def look(at):
        await asyncio.sleep(at / 1000)
        until = limits._sample_backoff_until
        closed_for = 0 if until is None else max(0, until - asyncio.get_running_loop().time())
        recent = limits._sample_backoff_requested_recently()
        seen.append({"at": at, "closedForMs": round(ms(closed_for)), "throttled": recent})

    async def request(rejection):
        answers = 0

        async def send(*_):
            nonlocal answers
            answers += 1
            if answers > 1:
                raise _Sent
            await asyncio.sleep(rejection["at"] / 1000)
            return None

        prompt = ModelInput(chunks=[ImageChunk(data=bytes(rejection["bytes"]), format="png")])
        client = sampling_client(limits, send)
        try:
            await client._sample_async_impl(prompt, 1, None, False)
        except _Sent:
            pass

    await asyncio.gather(*[request(rejection) for rejection in rejections], *[look(at) for at in looks])
    return seen


class _Sent(Exception):
    """A request has got through: what its answer would be is of no interest."""
