import { useRef } from 'preact/hooks';
import { clockTime, count, duration } from '../format.ts';
import type { Condition, GateDetail } from '../wire.ts';
import { type Announcement, announcementOf, spokenText } from './announcement.ts';
import { CONDITION_NAMES } from './status-words.ts';

/** A shape for each condition: not everyone can tell the colours apart. */
const SHAPES: Readonly<Record<Condition, string>> = {
  idle: 'M3 8h10',
  flowing: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  held: 'M4 2.500h8M4 13.500h8M5 2.500c0 4 6 7 6 11M11 2.500c0 4-6 7-6 11',
  throttled: 'M3 11a5 5 0 0 1 10 0M8 11l2.5-4',
  backoff: 'M8 3.5V8l3 2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0',
  suspended: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M3.800 3.800l8.400 8.400',
  failing: 'M8 2.500v7M8 12v1.500',
  outage: 'M4 4l8 8M12 4l-8 8',
  circuitOpen: 'M1.500 8H5l5-4M11 8h3.500',
  paused: 'M5.5 3.5v9M10.5 3.5v9',
  draining: 'M8 3v8M4.500 7.500 8 11l3.500-3.500M4 13.500h8',
  closed: 'M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
  ended: 'M3.500 8.500 6.500 11.500 12.500 4.500',
};

export function ConditionIcon({ condition }: { readonly condition: Condition }) {
  return (
    <svg class={`icon is-${condition}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[condition]} />
    </svg>
  );
}

function ConditionBadge({ condition }: { readonly condition: Condition }) {
  return (
    <span class={`badge is-${condition}`}>
      <ConditionIcon condition={condition} />
      {CONDITION_NAMES[condition]}
    </span>
  );
}

const KINDS = { limiter: 'limiter', stream: 'stream', key: 'key of a group' } as const;

/** The state in a sentence, with its main figures. */
export function Status({ detail, at }: { readonly detail: GateDetail; readonly at: number }) {
  const announced = useRef<Announcement | undefined>(undefined);
  announced.current = announcementOf(detail, announced.current, at);
  const { condition, headline, hint, leftMs, leftLabel, progress, ended } = detail;
  const isOver = condition === 'ended' || condition === 'closed';
  return (
    <section class={`status is-${condition}`} aria-labelledby="status-title">
      <div class="status-head">
        <h1 id="status-title">{detail.fullName}</h1>
        <span class="quiet">{KINDS[detail.kind]}</span>
      </div>
      <p class="hidden" role="status">
        {spokenText(announced.current, at)}
      </p>
      <div class="status-line">
        <ConditionBadge condition={condition} />
        <p class="headline">{headline}</p>
      </div>
      <p class="hint">
        {detail.since !== undefined && (
          <span class="left">
            Since <b>{clockTime(detail.since)}</b>
          </span>
        )}
        {leftMs !== undefined && !isOver && (
          <span class="left">
            {leftLabel} <b>{duration(leftMs)}</b>
          </span>
        )}
        {hint}
      </p>
      <dl class="figures">
        <Figure label="Waiting" value={count(detail.waiting)} />
        <Figure label="In flight" value={count(detail.inFlight)} />
        <Figure label="Sent a second" value={count(detail.perSecond)} />
        <Figure label="Succeeded" value={count(ended.ok)} />
        <Figure label="Failed" value={count(ended.failed + ended.rejected)} />
        <Figure label="429s" value={count(detail.throttled)} />
      </dl>
      {progress !== undefined && (
        <div class="progress">
          <progress
            max={Math.max(1, progress.total)}
            value={progress.completed}
            aria-label="Requests that have ended"
          />
          <span>
            {count(progress.completed)} of {count(progress.total)}
            {progress.etaMs !== undefined && !isOver && `, about ${duration(progress.etaMs)} left`}
          </span>
        </div>
      )}
    </section>
  );
}

function Figure({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
