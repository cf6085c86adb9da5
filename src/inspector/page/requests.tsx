import { useEffect, useState } from 'preact/hooks';
import { bytes, clockTime, count, duration } from '../format.ts';
import type { Cause, Part, RequestRecord } from '../wire.ts';
import { GATE_COLOURS, GATE_NAMES } from './charts.tsx';

const SORTS = [
  { value: 'latest', label: 'Latest' },
  { value: 'slowest', label: 'Slowest' },
] as const;
const OUTCOMES = [
  { value: 'all', label: 'All' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'retried', label: 'Sent again' },
  { value: 'waited', label: 'Waited' },
] as const;

const POLL_MS = 1_000;
const MOST_SHOWN = 20;

interface Props {
  readonly gate: number;
  readonly isLive: boolean;
  readonly showsValues: boolean;
  /** The address of a trace, with `{traceId}` in it. */
  readonly traceUrl: string | undefined;
}

/** The slowest and the latest requests, each with its way through the gates. */
export function Requests({ gate, isLive, showsValues, traceUrl }: Props) {
  const [sort, setSort] = useState<string>('latest');
  const [outcome, setOutcome] = useState<string>('all');
  const [open, setOpen] = useState<number>();
  const [records, setRecords] = useState<readonly RequestRecord[]>([]);
  // What is read must not move away.
  const isFrozen = open !== undefined;
  useEffect(() => {
    setRecords([]);
    setOpen(undefined);
  }, [gate]);
  useEffect(() => {
    if (isFrozen || !isLive) return;
    let isGone = false;
    const read = async () => {
      const query = `gate=${gate}&sort=${sort}&outcome=${outcome}&most=${MOST_SHOWN}`;
      const response = await fetch(`/requests?${query}`).catch(() => undefined);
      if (isGone || response?.ok !== true) return;
      const found = (await response.json()) as RequestRecord[];
      if (!isGone) setRecords(found);
    };
    void read();
    const timer = setInterval(() => void read(), POLL_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [gate, sort, outcome, isFrozen, isLive]);
  const longest = Math.max(1, ...records.map(({ durationMs }) => durationMs));
  const show = (id: number) => {
    setOpen(id);
    document.getElementById(`request-${id}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <section aria-labelledby="requests-title">
      <div class="section-head">
        <h2 id="requests-title">Requests</h2>
        <Choice name="sort" label="Order" options={SORTS} value={sort} choose={setSort} />
        <Choice
          name="outcome"
          label="Outcome"
          options={OUTCOMES}
          value={outcome}
          choose={setOutcome}
        />
        <span class="quiet" aria-live="polite">
          {isFrozen ? 'The list stands still while one is open.' : ''}
        </span>
      </div>
      {records.length > 0 && <Key records={records} />}
      {records.length === 0 ? (
        <p class="empty">
          {outcome === 'all'
            ? 'No request has ended yet. Each that ends shows here where its time went.'
            : 'No request that ended lately is of this kind.'}
        </p>
      ) : (
        <ul class="requests">
          {records.map((record) => (
            <Request
              key={record.id}
              record={record}
              longest={longest}
              isOpen={open === record.id}
              traceUrl={traceUrl}
              toggle={() => setOpen(open === record.id ? undefined : record.id)}
              showOther={records.some(({ id }) => causesOf(record).has(id)) ? show : undefined}
            />
          ))}
        </ul>
      )}
      <p class="quiet">
        Kept are up to 2,000 requests of the last 15 minutes, of all limiters together; of more, a
        sample.{!showsValues && ' Their values are shown only with the option showValues.'}
      </p>
    </section>
  );
}

/** What the bars of the list are made of: only what is there. */
function Key({ records }: { readonly records: readonly RequestRecord[] }) {
  const parts = records.flatMap((record) => record.parts);
  const gates = new Set(parts.flatMap((part) => (part.kind === 'wait' ? [part.gate] : [])));
  const isAnyBad = parts.some((part) => part.kind === 'attempt' && part.result !== 'ok');
  return (
    <p class="key" aria-hidden="true">
      <KeyItem kind="is-ok" colour="api" label="with the API" />
      {isAnyBad && <KeyItem kind="is-bad" colour="red" label="turned away" />}
      {[...gates].map((gate) => (
        <KeyItem
          key={gate}
          kind="is-wait"
          colour={GATE_COLOURS[gate]}
          label={`waits for ${GATE_NAMES[gate]}`}
        />
      ))}
    </p>
  );
}

interface KeyItemProps {
  readonly kind: string;
  readonly colour: string;
  readonly label: string;
}

function KeyItem({ kind, colour, label }: KeyItemProps) {
  return (
    <span class="key-item">
      <span class="key-bar">
        <span class={`segment ${kind}`} style={{ color: `var(--${colour})` }} />
      </span>
      {label}
    </span>
  );
}

function causesOf({ parts }: RequestRecord): ReadonlySet<number> {
  return new Set(parts.flatMap((part) => (part.kind === 'wait' && part.cause?.id) || []));
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly value: string;
  readonly choose: (value: string) => void;
}

function Choice({ name, label, options, value, choose }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => choose(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface RequestProps {
  readonly record: RequestRecord;
  readonly longest: number;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly showOther: ((id: number) => void) | undefined;
  readonly traceUrl: string | undefined;
}

function Request({ record, longest, isOpen, toggle, showOther, traceUrl }: RequestProps) {
  const { id, index, outcome, durationMs, attempts, parts, error, endedAt } = record;
  return (
    <li id={`request-${id}`} class={`request ${isOpen ? 'is-open' : ''}`}>
      <button type="button" class="request-line" aria-expanded={isOpen} onClick={toggle}>
        <span class="request-name">#{count(index)}</span>
        <span class={`outcome is-${outcome === 'ok' ? 'ok' : 'bad'}`}>
          {outcome === 'ok' ? '✓ ok' : `✗ ${error ?? outcome}`}
        </span>
        <span class="bar" aria-hidden="true">
          {parts.map((part, place) => (
            <Segment key={place} part={part} longest={longest} />
          ))}
        </span>
        <span class="request-time">{duration(durationMs)}</span>
        <span class="request-attempts">{attempts > 1 ? `${count(attempts)} attempts` : ''}</span>
        <span class="request-ended">{clockTime(endedAt)}</span>
      </button>
      {isOpen && <RequestDetail record={record} showOther={showOther} traceUrl={traceUrl} />}
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
  showOther,
  traceUrl,
}: Pick<RequestProps, 'record' | 'showOther' | 'traceUrl'>) {
  const { id, endedAt, bytes: size, tokens, parts, value, traceId } = record;
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
              <PartWords part={part} own={id} showOther={showOther} />
            </span>
          </li>
        ))}
      </ol>
      <p class="quiet">
        ended at {clockTime(endedAt)}, {bytes(size)}
        {tokens > 0 && `, ${count(tokens)} tokens`}
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

interface PartProps extends Pick<RequestProps, 'showOther'> {
  readonly part: Part;
  /** The request that it is a part of. */
  readonly own: number;
}

function PartWords({ part, own, showOther }: PartProps) {
  if (part.kind === 'attempt') {
    const { attempt, ms, result, status, retryAfterMs } = part;
    return (
      <>
        attempt {attempt} took {duration(ms)}:{' '}
        {status === undefined ? result : `HTTP ${status}, ${result}`}
        {retryAfterMs !== undefined && `, asked to wait ${duration(retryAfterMs)}`}
      </>
    );
  }
  const { gate, limit, ms, cause } = part;
  return (
    <>
      waited {duration(ms)} for {limit ?? GATE_NAMES[gate]}
      {cause !== undefined && <CauseWords cause={cause} own={own} showOther={showOther} />}
    </>
  );
}

/** Which rejection made it wait. */
function CauseWords({
  cause: { id, index, at, status = 'rejection' },
  own,
  showOther,
}: Pick<PartProps, 'own' | 'showOther'> & { readonly cause: Cause }) {
  const when = `at ${clockTime(at)}`;
  if (id === own) return <>{`, held by its own ${status} ${when}`}</>;
  const name = `request #${count(index)}`;
  return (
    <>
      {`, held by the ${status} of `}
      {showOther === undefined ? (
        name
      ) : (
        <button type="button" class="link" onClick={() => showOther(id)}>
          {name}
        </button>
      )}
      {` ${when}`}
    </>
  );
}
