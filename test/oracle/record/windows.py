"""llmservice: when its gates for requests and tokens a minute let requests pass. gentlify: its token budget."""

import asyncio
import logging

from gentlify._config import TokenBudget
from gentlify._token_bucket import TokenBucket
from llmservice.gates import RpmGate, TpmGate
from llmservice.live_metrics import MetricsRecorder

import virtual_time
from fixture import ms

CASES = 400
WINDOW_S = 60

logging.disable(logging.WARNING)


def record(source):
    cases = []
    for _ in range(CASES):
        cases.append(_case("requests", source, _requests_a_minute))
        cases.append(_case("tokens", source, _tokens_a_minute))
        cases.append(_case("budget", source, _token_budget))
    return cases


def _case(kind, source, play):
    limit = source.randint(1, 6) if kind == "requests" else source.choice([10, 50, 100])
    times = sorted(source.sample(range(150_000), source.randint(2, 16)))
    if source.random() < 0.5:
        # Many at once, and then the rest.
        times = sorted(at % source.choice([2_000, 150_000]) for at in times)
        times = [at + index for index, at in enumerate(times)]
    requests = [
        {"at": at, "tokens": source.choice([1, 5, 10, limit // 2 + 1, limit]), "ms": source.randint(1, 20_000)}
        for at in times
    ]
    passed = virtual_time.run(lambda: play(limit, requests))
    return {"kind": kind, "limit": limit, "windowMs": WINDOW_S * 1000, "requests": requests, "passed": passed}


async def _requests_a_minute(limit, requests):
    metrics = MetricsRecorder(window=WINDOW_S, max_rpm=limit)
    gate = RpmGate(WINDOW_S)

    async def send(index, _request):
        await gate.wait_if_rate_limited(metrics)
        metrics.mark_sent(index)

    return await _played(requests, send)


async def _tokens_a_minute(limit, requests):
    metrics = MetricsRecorder(window=WINDOW_S, max_tpm=limit)
    gate = TpmGate(WINDOW_S)

    async def send(_index, _request):
        await gate.wait_if_token_limited(metrics)

    def answered(index, request):
        metrics.mark_rcv(index, tokens=request["tokens"], cost=0)

    return await _played(requests, send, answered)


async def _token_budget(limit, requests):
    now = asyncio.get_running_loop().time
    bucket = TokenBucket(TokenBudget(max_tokens=limit, window_seconds=WINDOW_S), clock=now)

    async def send(_index, _request):
        await bucket.wait_for_budget()

    def answered(_index, request):
        bucket.consume(request["tokens"])

    return await _played(requests, send, answered)


async def _played(requests, send, answered=None):
    """The times at which requests pass, in order: who of several is the first is chance."""
    passed = []

    async def play(index, request):
        await asyncio.sleep(request["at"] / 1000)
        await send(index, request)
        passed.append(round(ms(asyncio.get_running_loop().time())))
        if answered is not None:
            await asyncio.sleep(request["ms"] / 1000)
            answered(index, request)

    await asyncio.gather(*[play(index, request) for index, request in enumerate(requests)])
    return sorted(passed)
