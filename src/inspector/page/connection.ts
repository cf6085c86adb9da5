import { useEffect, useState } from 'preact/hooks';
import type { Frame, GateDetail, GateSummary, Hello, Point } from '../wire.ts';

/** A quarter of an hour, with one point a second. */
const KEPT_POINTS = 900;

/** The time until the page connects again after a lost connection or a refusal, in ms. */
const RETRY_MS = 1_000;

/**
 * A page in the background connects at this interval, for one frame, in ms. A browser makes six
 * connections to a server, for all its tabs: with more open ones, no other tab could load.
 */
const HIDDEN_MS = 10_000;

/**
 * The state of the connection to the server.
 * - `lost`: the program cannot be reached; the page keeps the last state;
 * - `ended`: the program has announced its end;
 * - `gone`: the limiter or stream is not kept any more; the page keeps its last state;
 * - `tooLarge`: the server cannot send the state, which exceeds its largest message.
 */
export type LinkState = 'connecting' | 'live' | 'lost' | 'ended' | 'gone' | 'tooLarge';

/** The state that the server has sent so far. */
export interface View {
  readonly link: LinkState;
  readonly hello: Hello | undefined;
  readonly at: number;
  readonly gates: readonly GateSummary[];
  readonly more: number;
  readonly detail: GateDetail | undefined;
  readonly points: readonly Point[];
}

const NOTHING: View = {
  link: 'connecting',
  hello: undefined,
  at: 0,
  gates: [],
  more: 0,
  detail: undefined,
  points: [],
};

/** One limiter or stream of one run of an inspector. */
interface Wanted {
  /** 0: the busiest one. */
  readonly gate: number;
  /** When the inspector was started, in ms since 1970. */
  readonly run: number;
}

/** Follows the server's events about one limiter or stream. */
export function useView({ gate, run }: Wanted): View {
  const [view, setView] = useState(NOTHING);
  useEffect(() => follow(gate, run, setView), [gate, run]);
  return view;
}

/**
 * Reads events until the returned function is called. It connects again by itself: each time with
 * the limiter that is shown now, which an event source would not do.
 */
function follow(
  gate: number,
  ofRun: number,
  change: (next: (before: View) => View) => void,
): () => void {
  let run = ofRun;
  let shown = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let events: EventSource;
  const become = (link: LinkState) => change((before) => ({ ...before, link }));
  const connectIn = (ms: number) => {
    events.close();
    timer = setTimeout(connect, ms);
  };
  const connect = () => {
    clearTimeout(timer);
    // The server ignores the numbers of another run.
    events = new EventSource(`events?gate=${gate}&shown=${shown}&run=${run}`);
    events.addEventListener('hello', (event) => {
      const hello = JSON.parse(event.data) as Hello;
      if (gate === 0) run = hello.startedAt;
      change((before) => withHello(before, hello));
    });
    events.addEventListener('frame', (event) => {
      const frame = JSON.parse(event.data) as Frame;
      shown = frame.detail?.id ?? shown;
      change((before) => withFrame(before, frame));
      if (document.hidden) connectIn(HIDDEN_MS);
    });
    events.addEventListener('tooLarge', () => become('tooLarge'));
    events.addEventListener('end', () => become('ended'));
    events.addEventListener('error', () => {
      change((before) => (before.link === 'ended' ? before : { ...before, link: 'lost' }));
      connectIn(RETRY_MS);
    });
  };
  const connectIfShown = () => {
    if (!document.hidden && events.readyState === EventSource.CLOSED) connect();
  };
  connect();
  document.addEventListener('visibilitychange', connectIfShown);
  return () => {
    document.removeEventListener('visibilitychange', connectIfShown);
    clearTimeout(timer);
    events.close();
  };
}

/** Nothing is kept of an earlier run of the inspector. */
function withHello(before: View, hello: Hello): View {
  const isOther = before.hello !== undefined && before.hello.startedAt !== hello.startedAt;
  return isOther ? { ...NOTHING, hello } : { ...before, hello };
}

function withFrame(before: View, { at, gates, more, detail, history, points = [] }: Frame): View {
  const listed = { gates: gates ?? before.gates, more: more ?? before.more };
  // The time stays that of the last state.
  if (detail === undefined && before.detail !== undefined) {
    return { ...before, ...listed, link: 'gone' };
  }
  return {
    ...before,
    ...listed,
    link: 'live',
    at,
    detail,
    points: history ?? withPoints(before.points, points),
  };
}

/** Appends points; a second that is known already is replaced. Drops the oldest points. */
function withPoints(known: readonly Point[], points: readonly Point[]): readonly Point[] {
  const [first] = points;
  if (first === undefined) return known;
  const from = first[0] ?? 0;
  let end = known.length;
  while (end > 0 && (known[end - 1]?.[0] ?? 0) >= from) end -= 1;
  return [...known.slice(Math.max(0, end + points.length - KEPT_POINTS), end), ...points];
}
