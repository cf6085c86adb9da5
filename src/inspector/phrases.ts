import { count, plural } from './format.ts';
import type { Condition } from './wire.ts';

/** What goes on at a gate, in words. */
export interface Words {
  readonly condition: Condition;
  readonly headline: string;
  readonly hint: string;
  /** Until it changes by itself, in ms, and what happens then. */
  readonly leftMs: number | undefined;
  readonly leftLabel: string;
}

export function plain(condition: Condition, headline: string, hint = ''): Words {
  return { condition, headline, hint, leftMs: undefined, leftLabel: '' };
}

export function waits(waiting: number): string {
  if (waiting === 0) return 'nothing waits';
  return `${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`;
}

export function run(inFlight: number): string {
  return inFlight === 0 ? 'none runs' : `${count(inFlight)} ${inFlight === 1 ? 'runs' : 'run'}`;
}

export function stillRun(inFlight: number): string {
  if (inFlight === 0) return '';
  return `${plural(inFlight, 'request')} that ${inFlight === 1 ? 'was' : 'were'} sent before still ${inFlight === 1 ? 'runs' : 'run'}.`;
}
