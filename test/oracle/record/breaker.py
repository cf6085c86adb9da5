"""gentlify: the circuit breaker, step by step."""

from gentlify import CircuitBreakerConfig, CircuitOpenError
from gentlify._circuit_breaker import CircuitBreaker

import virtual_time
from fixture import ms

CASES = 1_200

# In seconds all of them are exact.
TIMES_MS = [125, 125, 250, 500, 875, 1_000, 1_125, 5_000]


def record(source):
    return [_case(source, is_prompt=number % 2 == 0) for number in range(CASES)]


def _case(source, is_prompt):
    """`is_prompt`: each attempt ends before the next step; else whenever it likes."""
    options = {
        "consecutiveFailures": source.randint(1, 4),
        "openMs": source.choice([125, 250, 1_000]),
        "halfOpenProbes": source.randint(1, 3),
    }
    clock = virtual_time.Manual()
    config = CircuitBreakerConfig(
        consecutive_failures=options["consecutiveFailures"],
        open_duration=options["openMs"] / 1000,
        half_open_max_calls=options["halfOpenProbes"],
    )
    breaker = CircuitBreaker(config, clock=clock)
    fails = source.choice([0.2, 0.5, 0.8, 1])
    steps = []
    now_ms = 0
    out = []
    admitted = 0

    def check():
        nonlocal admitted
        try:
            breaker.check()
            out.append(admitted)
            admitted += 1
            return None
        except CircuitOpenError as error:
            return round(ms(error.retry_after))

    def end(attempt):
        out.remove(attempt)
        ok = source.random() >= fails
        breaker.record_success() if ok else breaker.record_failure()
        steps.append(["end", now_ms, attempt, ok, breaker.state, breaker.consecutive_failures])

    for _ in range(source.randint(5, 40)):
        if source.random() < 0.4:
            now_ms += source.choice(TIMES_MS)
            clock.now = now_ms / 1000
        if out and not is_prompt and source.random() < 0.5:
            end(source.choice(out))
            continue
        steps.append(["check", now_ms, check(), breaker.state])
        if is_prompt and out and source.random() < 0.9:
            end(out[0])
    return {**options, "steps": steps}
