"""gentlify: how failures and time change concurrency and dispatch interval."""

from gentlify import Throttle

import virtual_time
from fixture import ms

CASES = 1_200


def record(source):
    return [_case(source) for _ in range(CASES)]


def _case(source):
    options = {
        "maxLimit": source.randint(1, 20),
        "failureThreshold": source.randint(1, 4),
        "failureWindowMs": source.choice([1_000, 5_000, 60_000]),
        "coolingMs": source.choice([1_000, 5_000, 60_000]),
        "ceilingResetFactor": source.choice([2, 5]),
        "intervalMs": source.choice([0, 100, 100, 200, 200, 200]),
        "maxIntervalMs": source.choice([400, 30_000]),
    }
    options["initialLimit"] = source.randint(1, options["maxLimit"])
    if source.random() < 0.8:
        options["initialLimit"] = options["maxLimit"]
    clock = virtual_time.Manual()
    with virtual_time.clock(clock):
        throttle = Throttle(
            max_concurrency=options["maxLimit"],
            initial_concurrency=options["initialLimit"],
            failure_threshold=options["failureThreshold"],
            failure_window=options["failureWindowMs"] / 1000,
            cooling_period=options["coolingMs"] / 1000,
            safe_ceiling_decay_multiplier=options["ceilingResetFactor"],
            min_dispatch_interval=options["intervalMs"] / 1000,
            max_dispatch_interval=options["maxIntervalMs"] / 1000,
        )
    # Its clock is read once, when it is made; the parts have been given the same one.
    throttle._clock = clock
    succeeds = source.choice([0.2, 0.5, 0.8])
    steps = []
    now_ms = 0
    for _ in range(source.randint(5, 30)):
        now_ms += source.choice([125, 250, 500, 875, 2_500, options["coolingMs"], options["failureWindowMs"] + 125])
        clock.now = now_ms / 1000
        ok = source.random() < succeeds
        throttle.record_success() if ok else throttle.record_failure()
        seen = throttle.snapshot()
        steps.append(
            [now_ms, ok, seen.concurrency, round(ms(seen.dispatch_interval)), seen.safe_ceiling, seen.failure_count, seen.state.value]
        )
    return {**options, "steps": steps}
