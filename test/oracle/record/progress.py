"""gentlify: percentage, milestones and time left."""

from gentlify._progress import ProgressTracker

from fixture import ms

CASES = 1_000


def record(source):
    return [_case(source) for _ in range(CASES)]


def _case(source):
    total = source.choice([0, 1, 3, 7, 10, 30, 64, 100, 120])
    step = source.choice([1, 5, 7, 10, 25, 100])
    tracker = ProgressTracker(total_tasks=total, milestone_pct=float(step))
    durations = source.choices([0, 1, 10, 250, source.randint(1, 5_000), source.randint(1, 60_000)], k=source.randint(1, 75))
    steps = []
    for duration in durations:
        milestone = tracker.record_completion(duration / 1000)
        eta = tracker.eta_seconds
        steps.append([duration, milestone, round(tracker.percentage, 9), None if eta is None else round(ms(eta), 1)])
    return {"total": total, "milestonePercent": step, "steps": steps}
