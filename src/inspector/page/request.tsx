import { bytes, clockTime, count, duration } from '../format.ts';
import type { Cause, Part, RequestRecord } from '../wire-requests.ts';
import { GATE_COLOURS, GATE_NAMES } from './chart-lines.ts';

interface RequestProps {
  readonly record: RequestRecord;
  readonly longest: number;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  /** The address of a request by its number. */
  readonly addressOf: (id: number) => string;
  readonly traceUrl: string | undefined;
}

/** How a request ended, in the list. */
export function outcomeText({ outcome, error }: RequestRecord): string {
  return outcome === 'ok' ? '✓ ok' : `✗ ${error ?? outcome}`;
}

export function Request({ record, longest, isOpen, toggle, addressOf, traceUrl }: RequestProps) {
  const { id, index, outcome, durationMs, attempts, parts, endedAt } = record;
  return (
    <li id={`request-${id}`} class={`request ${isOpen ? 'is-open' : ''}`}>
      <button type="button" class="request-line" aria-expanded={isOpen} onClick={toggle}>
        <span class="request-name">#{count(index)}</span>
        <span class={`outcome is-${outcome === 'ok' ? 'ok' : 'bad'}`}>{outcomeText(record)}</span>
        <span class="bar" aria-hidden="true">
          {parts.map((part, place) => (
            <Segment key={place} part={part} longest={longest} />
          ))}
        </span>
        <span class="request-time">{duration(durationMs)}</span>
        <span class="request-attempts">{attempts > 1 ? `${count(attempts)} attempts` : ''}</span>
        <span class="request-ended">{clockTime(endedAt)}</span>
      </button>
      {isOpen && <RequestDetail record={record} addressOf={addressOf} traceUrl={traceUrl} />}
    </li>
  );
}

function Segment({ part, longest }: { readonly part: Part; readonly longest: number }) {
  const colour = part.kind === 'wait' ? GATE_COLOURS[part.gate] : 'api';
  const kind = part.kind === 'wait' ? 'is-wait' : part.result === 'ok' ? 'is-ok' : 'is-bad';
  return (
    <span
      class={`segment ${kind}`}
      style={{
        left: `${(100 * part.startMs) / longest}%`,
        width: `${Math.max(0.3, (100 * part.ms) / longest)}%`,
        color: `var(--${colour})`,
      }}
    />
  );
}

function RequestDetail({
  record,
  addressOf,
  traceUrl,
}: Pick<RequestProps, 'record' | 'addressOf' | 'traceUrl'>) {
  const { id, index, endedAt, bytes: size, tokens, parts, value, traceId } = record;
  return (
    <div class="request-detail">
      <ol>
        {parts.map((part, place) => (
          <li key={place}>
            <span class="part-start">{duration(part.startMs)}</span>
            <span
              class={`dot ${part.kind === 'attempt' ? 'is-attempt' : ''}`}
              style={{
                color: `var(--${part.kind === 'wait' ? GATE_COLOURS[part.gate] : 'api'})`,
              }}
            />
            <span class="part-text">
              <PartWords part={part} own={id} addressOf={addressOf} />
            </span>
          </li>
        ))}
      </ol>
      <p class="quiet">
        request #{count(index)} ended at {clockTime(endedAt)}, {bytes(size)}
        {tokens > 0 && `, ${count(tokens)} tokens`}
        {', '}
        <a href={addressOf(id)}>link to this request</a>
        {traceId !== undefined && traceUrl !== undefined && (
          <>
            {', '}
            <a href={traceUrl.replace('{traceId}', traceId)} target="_blank" rel="noreferrer">
              its trace
            </a>
          </>
        )}
      </p>
      {value !== undefined && <pre class="value">{value}</pre>}
    </div>
  );
}

interface PartProps extends Pick<RequestProps, 'addressOf'> {
  readonly part: Part;
  /** The request that the part belongs to. */
  readonly own: number;
}

function PartWords({ part, own, addressOf }: PartProps) {
  if (part.kind === 'attempt') {
    const { attempt, ms, result, status, error, retryAfterMs } = part;
    const told = status === undefined ? error : `HTTP ${status}`;
    return (
      <>
        attempt {attempt} took {duration(ms)}: {told === undefined ? result : `${told}, ${result}`}
        {retryAfterMs !== undefined && `, asked to wait ${duration(retryAfterMs)}`}
      </>
    );
  }
  const { gate, limit, ms, cause } = part;
  return (
    <>
      waited {duration(ms)} for {limit ?? GATE_NAMES[gate]}
      {cause !== undefined && <CauseWords cause={cause} own={own} addressOf={addressOf} />}
    </>
  );
}

/** The rejection that made the request wait. */
function CauseWords({
  cause: { id, index, at, status = 'rejection' },
  own,
  addressOf,
}: Pick<PartProps, 'own' | 'addressOf'> & { readonly cause: Cause }) {
  const when = `at ${clockTime(at)}`;
  if (id === own) return <>{`, held by its own ${status} ${when}`}</>;
  const name = `request #${count(index)}`;
  return (
    <>
      {`, held by the ${status} of `}
      <a href={addressOf(id)}>{name}</a>
      {` ${when}`}
    </>
  );
}
