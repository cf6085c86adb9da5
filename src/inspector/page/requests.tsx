import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundRequest, RequestRecord } from '../wire-requests.ts';
import { useKeyboardFocus } from './keyboard-focus.ts';
import { hashOf, type Linked } from './linked-request.ts';
import { readJson } from './read-json.ts';
import { outcomeText, Request } from './request.tsx';
import { Key } from './request-key.tsx';

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
  /** Whether any of its requests has ended. */
  readonly hasEnded: boolean;
  /** When the inspector was started. */
  readonly run: number;
  readonly linked: Linked;
  readonly open: (found: FoundRequest) => void;
  readonly close: () => void;
  readonly isLive: boolean;
  readonly showsValues: boolean;
  /** The address of a trace, with `{traceId}` in it. */
  readonly traceUrl: string | undefined;
}

/** The slowest and the latest requests, each with its way through the gates. */
export function Requests(props: Props) {
  const { gate, hasEnded, run, linked, open, close, isLive, showsValues, traceUrl } = props;
  const [sort, setSort] = useState<string>('latest');
  const [outcome, setOutcome] = useState<string>('all');
  const opened = linked.state === 'found' && linked.found.gate === gate ? linked : undefined;
  const openId = opened?.found.record.id;
  const focus = useKeyboardFocus();
  // The list must not move while the user reads it, or lose the row that has the focus.
  const isFrozen = opened !== undefined || focus.isInside;
  const read = useRecords({ gate, sort, outcome, isFrozen, isLive });
  const listed = read ?? NO_RECORDS;
  const kept = useRef<FoundRequest | undefined>(undefined);
  if (opened !== undefined) kept.current = opened.found;
  else if (!focus.isInside || kept.current?.gate !== gate) kept.current = undefined;
  const record = kept.current?.record;
  const isListed = record === undefined || listed.some(({ id }) => id === record.id);
  const records = isListed ? listed : [record, ...listed];
  const isFromAddress = opened?.isFromAddress === true;
  useEffect(() => {
    if (!isFromAddress) return;
    const row = document.getElementById(`request-${openId}`);
    row?.scrollIntoView({ block: 'center' });
    // The link that was followed is gone, with the request that had it.
    row?.querySelector('button')?.focus({ preventScroll: true });
  }, [openId, isFromAddress]);
  const longest = Math.max(1, ...records.map(({ durationMs }) => durationMs));
  const addressOf = (request: number) => hashOf({ run, request });
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
          {isFrozen ? 'The list stands still while one is open or has the focus.' : ''}
        </span>
      </div>
      {records.length > 0 && <Key records={records} />}
      {records.length === 0 ? (
        <p class="empty">{emptyText(outcome, hasEnded, read !== undefined)}</p>
      ) : (
        <ul
          class="requests"
          style={{ '--outcome': `${widthOf(records)}ch` }}
          onFocusIn={focus.enter}
          onFocusOut={focus.leave}
        >
          {records.map((record) => (
            <Request
              key={record.id}
              record={record}
              longest={longest}
              isOpen={record.id === openId}
              traceUrl={traceUrl}
              toggle={() => (record.id === openId ? close() : open({ gate, record }))}
              addressOf={addressOf}
            />
          ))}
        </ul>
      )}
      <p class="quiet">
        The inspector keeps up to 2,000 requests of the last 15 minutes for all limiters together,
        and a sample if there are more.
        {!showsValues && ' Their values are shown only with the option showValues.'}
      </p>
    </section>
  );
}

function emptyText(outcome: string, hasEnded: boolean, isRead: boolean): string {
  if (!hasEnded) return 'No request has ended yet. Each that ends shows here where its time went.';
  if (!isRead) return 'Its requests are not read yet.';
  if (outcome !== 'all') return 'No request that ended lately is of this kind.';
  return 'None of its requests is kept any more: they ended long ago, or many others ended since.';
}

/** The width of the outcome column in characters: error names are longer than `ok`. */
function widthOf(records: readonly RequestRecord[]): number {
  return Math.min(30, Math.max(...records.map((record) => outcomeText(record).length)) + 2);
}

interface Asked {
  readonly gate: number;
  readonly sort: string;
  readonly outcome: string;
  /** Whether the list keeps its present content. */
  readonly isFrozen: boolean;
  readonly isLive: boolean;
}

/** The records of a list, read each second; undefined until the first have come. */
function useRecords(options: Asked): readonly RequestRecord[] | undefined {
  const { gate, sort, outcome, isFrozen, isLive } = options;
  const asked = `gate=${gate}&sort=${sort}&outcome=${outcome}&most=${MOST_SHOWN}`;
  const [read, setRead] = useState<Read>({ asked: '', records: [] });
  const isEnough = !isLive || (isFrozen && read.asked === asked);
  useEffect(() => {
    if (isEnough) return;
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A busy program answers late: the next question waits for the answer to this one.
    const readAgain = async () => {
      const records = (await readJson(`requests?${asked}`)) as RequestRecord[] | undefined;
      if (isGone) return;
      if (records !== undefined) setRead({ asked, records });
      timer = setTimeout(() => void readAgain(), POLL_MS);
    };
    void readAgain();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [asked, isEnough]);
  // Do not show the records of the limiter or stream selected before.
  return read.asked.startsWith(`gate=${gate}&`) ? read.records : undefined;
}

interface Read {
  readonly asked: string;
  readonly records: readonly RequestRecord[];
}

const NO_RECORDS: readonly RequestRecord[] = [];

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
