import { useRef } from 'preact/hooks';
import { clockTime } from '../format.ts';
import { endsOf, LONGEST_S, moved, NOW, scaled, type TimeRange } from './time-range.ts';

const WINDOWS = [
  { label: '1 min', seconds: 60 },
  { label: '5 min', seconds: 300 },
  { label: '15 min', seconds: LONGEST_S },
] as const;

interface Props {
  readonly range: TimeRange;
  /** The first second with data. */
  readonly first: number | undefined;
  /** Seconds since 1970. */
  readonly now: number;
  readonly choose: (range: TimeRange) => void;
}

/** Chooses the shown part of the time lines: the last minutes (live), or a fixed part. */
export function RangeChoice({ range, first, now, choose }: Props) {
  const ends = endsOf(range, first, now);
  const windows = useRef<HTMLFieldSetElement>(null);
  const returnToNow = () => {
    // The button goes away: the focus moves to the choice that it makes.
    windows.current?.querySelector('input')?.focus();
    choose(NOW);
  };
  const steps = [
    { label: 'Earlier', sign: '←', make: () => moved(ends, -1, now) },
    { label: 'Later', sign: '→', make: () => moved(ends, 1, now) },
    { label: 'Zoom in', sign: '+', make: () => scaled(ends, 0.5, now) },
    { label: 'Zoom out', sign: '−', make: () => scaled(ends, 2, now) },
  ];
  return (
    <>
      <fieldset class="choice" ref={windows}>
        <legend class="hidden">Length of time</legend>
        {WINDOWS.map(({ label, seconds }) => (
          <label key={seconds}>
            <input
              type="radio"
              name="window"
              checked={range.isLive && range.seconds === seconds}
              onChange={() => choose({ isLive: true, seconds })}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      <fieldset class="choice steps">
        <legend class="hidden">Part of that time</legend>
        {steps.map(({ label, sign, make }) => (
          <button
            key={label}
            type="button"
            title={label}
            aria-label={label}
            onClick={() => choose(make())}
          >
            <span aria-hidden="true">{sign}</span>
          </button>
        ))}
      </fieldset>
      {range.isLive ? (
        <span class="quiet drag-hint">Drag over a chart to zoom.</span>
      ) : (
        <span class="standing">
          <span aria-live="polite">
            {clockTime(range.from * 1_000)} to {clockTime(range.to * 1_000)}
          </span>
          <button type="button" class="back" onClick={returnToNow}>
            Back to now
          </button>
        </span>
      )}
    </>
  );
}
