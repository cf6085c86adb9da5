import { useEffect, useState } from 'preact/hooks';
import type { Frame, GateDetail, GateSummary, Hello, Point } from '../wire.ts';

/** A quarter of an hour, with one point a second. */
const KEPT_POINTS = 900;

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
  useEffect(() => {
    const events = new EventSource(`/events?gate=${gate}`);
    events.addEventListener('hello', (event) => {
      const hello = JSON.parse(event.data) as Hello;
      setView((before) => ({ ...before, hello, link: 'live' }));
    });
    events.addEventListener('frame', (event) => {
      const frame = JSON.parse(event.data) as Frame;
      setView((before) => withFrame(before, frame));
    });
    const become = (link: LinkState) => setView((before) => ({ ...before, link }));
    events.addEventListener('tooLarge', () => become('tooLarge'));
    events.addEventListener('end', () => become('ended'));
    events.addEventListener('error', () => {
      setView((before) => (before.link === 'ended' ? before : { ...before, link: 'lost' }));
    });
    return () => events.close();
  }, [gate]);
  return view;
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
