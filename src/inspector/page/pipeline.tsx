import type { ComponentChildren } from 'preact';
import { bytes, count, plural } from '../format.ts';
import type { Condition, GateDetail, Station } from '../wire.ts';
import { GATE_NAMES } from './chart-lines.ts';
import { CONDITION_NAMES } from './status-words.ts';

/** The conditions in which nothing is sent. */
const STOPPED: readonly Condition[] = ['backoff', 'suspended', 'circuitOpen', 'paused', 'outage'];

/** The path of a request through the gate, as a picture with the queue and the rate. */
export function Pipeline({ detail }: { readonly detail: GateDetail }) {
  const { waiting, inFlight, running, limit, perSecond, ended, sent, bytesSent, stations } = detail;
  const isStopped = STOPPED.includes(detail.condition);
  // A request that waits for a retry counts as in flight: it keeps its slot.
  const present = waiting + running;
  const arrived = ended.ok + ended.failed + ended.rejected + ended.cancelled + present;
  const binding = stations.find(({ isBinding }) => isBinding);
  return (
    <section aria-labelledby="pipeline-title">
      <h2 id="pipeline-title">Pipeline</h2>
      <ol class="pipeline">
        <Node title="Source" value={count(arrived)} note="arrived" />
        <Pipe perSecond={perSecond} />
        <Node
          title="Estimate"
          value={bytesSent === 0 ? '–' : bytes(bytesSent / sent)}
          note={sent === 0 ? 'nothing sent yet' : bytesSent === 0 ? 'no size' : 'on average'}
        />
        <Pipe perSecond={perSecond} />
        <Node
          title="Queue"
          value={count(waiting)}
          note={waiting === 1 ? 'waits' : 'wait'}
          fill={tankFill(waiting)}
          tone={waiting > 0 ? 'held' : undefined}
        />
        <Pipe perSecond={isStopped ? 0 : perSecond} />
        <Node
          title="Gate"
          value={isStopped ? 'shut' : waiting > 0 ? 'holds' : 'open'}
          note={binding?.title ?? causeOf(detail, isStopped)}
          tone={isStopped ? 'shut' : waiting > 0 ? 'held' : undefined}
          isGate
        />
        <Stations stations={stations} />
        <Pipe perSecond={isStopped ? 0 : perSecond} isCut={isStopped} />
        <Node
          title="In flight"
          value={count(inFlight)}
          note={
            Number.isFinite(limit) && limit !== null ? `of ${plural(limit, 'slot')}` : 'no limit'
          }
          fill={limit > 0 ? inFlight / limit : 0}
        />
        <Pipe perSecond={perSecond} />
        <Node title="API" value={`${count(perSecond)}/s`} note={`${count(sent)} sent`} />
        <Pipe perSecond={perSecond} />
        <Node
          title="Results"
          value={count(ended.ok)}
          note={`${count(ended.failed + ended.rejected)} failed`}
        />
      </ol>
    </section>
  );
}

/** The label of what stops the gate if none of its policies does. */
function causeOf({ condition, waiting, binding }: GateDetail, isStopped: boolean): string {
  if (isStopped) return CONDITION_NAMES[condition];
  if (waiting === 0 || binding === undefined) return 'all pass';
  const name = GATE_NAMES[binding];
  return name.charAt(0).toUpperCase() + name.slice(1);
}

interface NodeProps {
  readonly title: string;
  readonly value: string;
  readonly note: ComponentChildren;
  /** From 0 to 1: how full it is. */
  readonly fill?: number;
  readonly tone?: 'held' | 'shut' | undefined;
  readonly isGate?: boolean;
}

function Node({ title, value, note, fill, tone, isGate = false }: NodeProps) {
  return (
    <li class={`node ${tone === undefined ? '' : `is-${tone}`} ${isGate ? 'is-gate' : ''}`}>
      {fill !== undefined && (
        <span class="tank" aria-hidden="true">
          <span style={{ '--fill': Math.min(1, fill) }} />
        </span>
      )}
      <span class="node-title">{title}</span>
      <span class="node-value">{value}</span>
      <span class="node-note">{note}</span>
    </li>
  );
}

/**
 * The speed of the animation grows with the logarithm of the rate: 1 a second is slow, 1,000 fast.
 */
function Pipe({
  perSecond,
  isCut = false,
}: {
  readonly perSecond: number;
  readonly isCut?: boolean;
}) {
  const speed = perSecond <= 0 ? 0 : Math.min(4, 1 + Math.log10(1 + perSecond));
  const state = isCut ? 'is-cut' : speed > 0 ? 'is-flowing' : '';
  return (
    <li class={`pipe ${state}`} aria-hidden="true">
      <span
        style={{
          animationDuration: `${(2.4 / Math.max(1, Math.round(speed * 2) / 2)).toFixed(2)}s`,
        }}
      />
    </li>
  );
}

/** A queue of 10 is visible, one of a million is full. */
function tankFill(waiting: number): number {
  return waiting === 0 ? 0 : Math.min(1, 0.08 + Math.log10(waiting) / 6);
}

function Stations({ stations }: { readonly stations: readonly Station[] }) {
  return (
    <li class="stations">
      <p class="stations-title">A request goes when all of these let it:</p>
      <ol>
        {stations.map((station) => (
          <StationTile key={station.gate} station={station} />
        ))}
      </ol>
    </li>
  );
}

function StationTile({ station }: { readonly station: Station }) {
  const { title, text, fill, isBinding, isClosed, waiting } = station;
  const state = isClosed ? 'is-shut' : isBinding ? 'is-held' : '';
  return (
    <li class={`station ${state}`}>
      <span class="station-title">
        {title}
        {(isBinding || isClosed) && <b class="mark">{isClosed ? 'shut' : 'binds'}</b>}
      </span>
      <span class="station-text">{text}</span>
      {fill !== undefined && (
        <span class="meter" aria-hidden="true">
          <span style={{ transform: `scaleX(${fill})` }} />
        </span>
      )}
      {waiting > 0 && <span class="station-waiting">{count(waiting)} wait for this</span>}
    </li>
  );
}
