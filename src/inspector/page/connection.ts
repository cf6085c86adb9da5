import { useEffect, useState } from 'preact/hooks';
import type { Frame, GateDetail, GateSummary, Hello, Point } from '../wire.ts';

/** A quarter of an hour, with one point a second. */
const KEPT_POINTS = 900;

/** The time until the page asks again after an answer with an error status, in ms. */
const REFUSED_MS = 2_000;

/**
 * The state of the connection to the server.
 * - `lost`: the program cannot be reached; the page keeps the last state;
 * - `ended`: the program has announced its end;
 * - `tooLarge`: the server cannot send the state, which exceeds its largest message.
 */
export type LinkState = 'connecting' | 'live' | 'lost' | 'ended' | 'tooLarge';

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

/** Follows the server's events about one limiter or stream. @param gate 0: the busiest one */
export function useView(gate: number): View {
  const [view, setView] = useState(NOTHING);
  useEffect(() => follow(`/events?gate=${gate}`, setView), [gate]);
  return view;
}

/**
 * Reads the events of an address until the returned function is called. An event source connects
 * again by itself after a lost connection, but not after an answer with an error status.
 */
function follow(url: string, change: (next: (before: View) => View) => void): () => void {
  const become = (link: LinkState) => change((before) => ({ ...before, link }));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let events: EventSource;
  const connect = () => {
    events = new EventSource(url);
    events.addEventListener('hello', (event) => {
      const hello = JSON.parse(event.data) as Hello;
      change((before) => ({ ...before, hello, link: 'live' }));
    });
    events.addEventListener('frame', (event) => {
      const frame = JSON.parse(event.data) as Frame;
      change((before) => withFrame(before, frame));
    });
    events.addEventListener('tooLarge', () => become('tooLarge'));
    events.addEventListener('end', () => become('ended'));
    events.addEventListener('error', () => {
      change((before) => (before.link === 'ended' ? before : { ...before, link: 'lost' }));
      if (events.readyState === EventSource.CLOSED) timer = setTimeout(connect, REFUSED_MS);
    });
  };
  connect();
  return () => {
    clearTimeout(timer);
    events.close();
  };
}

function withFrame(before: View, { at, gates, more, detail, history, points = [] }: Frame): View {
  return {
    ...before,
    link: 'live',
    at,
    gates: gates ?? before.gates,
    more: more ?? before.more,
    detail: detail ?? before.detail,
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
