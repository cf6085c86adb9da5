"""tinker: when requests are admitted by its slots, its throttled slots and its budget of bytes."""

import asyncio

import virtual_time
from fixture import ms
from originals import holder

CASES = 1_800


def record(source):
    return [_case(source) for _ in range(CASES)]


def _case(source):
    limits = {
        "slots": source.randint(1, 6),
        "throttledSlots": source.randint(1, 3),
        "maxBytes": source.choice([0, 100, 1_000, 10_000]),
    }
    times = sorted(source.sample(range(5_000), source.randint(3, 14)))
    requests = [
        {
            "at": at,
            "bytes": source.choice([0, 1, 60, 100, 101, 400, 2_500]),
            # No two things happen at one time: which comes first would be chance.
            "holdMs": source.randint(1, 2_500) + source.randint(1, 999) / 1000,
        }
        for at in times
    ]
    # The mode before the first request, or a change of it among them.
    kind = source.choice(["none", "before", "before", "among"])
    backoff = None
    if kind == "before":
        backoff = {"at": 0, "waitMs": source.choice([1, 60_000])}
        for request in requests:
            request["at"] += 1
    elif kind == "among":
        backoff = {"at": source.randint(0, 5_000) + 0.5, "waitMs": source.choice([1, 500])}
    return {**limits, "requests": requests, "backoff": backoff, **virtual_time.run(lambda: _play(limits, requests, backoff))}


async def _play(limits, requests, backoff):
    limit = holder(limits["slots"], limits["throttledSlots"], limits["maxBytes"])
    now = asyncio.get_running_loop().time
    admitted = [None] * len(requests)
    # Whether the mode was another one when the request came than when it was admitted.
    changed = [None] * len(requests)
    order = []

    async def back_off():
        if backoff is not None:
            await asyncio.sleep(backoff["at"] / 1000)
            limit._sample_backoff_until = now() + backoff["waitMs"] / 1000

    async def send(index, at, bytes, holdMs):
        await asyncio.sleep(at / 1000)
        before = limit._sample_backoff_requested_recently()
        async with limit.sample_dispatch_rate_limit(bytes):
            admitted[index] = round(ms(now()), 1)
            order.append(index)
            changed[index] = before != limit._sample_backoff_requested_recently()
            await asyncio.sleep(holdMs / 1000)

    await asyncio.gather(back_off(), *[send(index, **request) for index, request in enumerate(requests)])
    return {"admitted": admitted, "modeChanged": any(changed), "overtaken": order != sorted(order)}
