import { count, duration } from '../format.ts';
import type { GateDetail } from '../wire.ts';
import { ConditionBadge } from './icons.tsx';

const KINDS = { limiter: 'limiter', stream: 'stream', key: 'key of a group' } as const;

/** What goes on, in a sentence, and the figures that matter. */
export function Status({ detail }: { readonly detail: GateDetail }) {
  const { condition, headline, hint, leftMs, leftLabel, progress, ended } = detail;
  const isOver = condition === 'ended' || condition === 'closed';
  return (
    <section class={`status is-${condition}`} aria-labelledby="status-title">
      <div class="status-head">
        <h1 id="status-title">{detail.fullName}</h1>
        <span class="quiet">{KINDS[detail.kind]}</span>
      </div>
      <div class="status-line" aria-live="polite">
        <ConditionBadge condition={condition} />
        <p class="headline">{headline}</p>
      </div>
      <p class="hint">
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
