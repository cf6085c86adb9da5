import type { BatchProgress } from '../progress.ts';
import { count, duration, plural, rate } from './words.ts';

/** How a sentence is meant. */
export type Mood = 'calm' | 'held' | 'trouble';

export interface Status {
  readonly mood: Mood;
  readonly text: string;
}

/** What a run does now, in a sentence. */
export function statusOf(progress: BatchProgress): Status {
  const { phase, checked, stop, inFlight, downForMs } = progress;
  if (phase === 'starting') {
    return {
      mood: 'calm',
      text: `Checking the input before anything is sent: ${plural(checked, 'line')}`,
    };
  }
  if (phase === 'draining') {
    const isAsked = stop === undefined || stop.reason === 'interrupted';
    const why = isAsked ? 'Stopping' : `Stopping: ${stop.message}`;
    const left = inFlight === 0 ? 'saving results' : `${plural(inFlight, 'answer')} still to come`;
    return { mood: 'held', text: `${why}. Now ${left}; Ctrl-C again ends at once` };
  }
  if (downForMs > 0) return outageStatus(progress);
  return runningStatus(progress);
}

function outageStatus({ downForMs, outageMs }: BatchProgress): Status {
  const left = Math.max(0, outageMs - downForMs);
  return {
    mood: 'trouble',
    text:
      `The server has not answered for ${duration(downForMs)}. It is tried with single requests for ` +
      `${duration(left)} more; nothing is lost`,
  };
}

function runningStatus({ pace, waiting, inFlight, attempts }: BatchProgress): Status {
  if (attempts === 0) return { mood: 'calm', text: 'Sending the first requests' };
  if (pace === undefined || waiting === 0 || pace.heldBy === undefined) {
    return { mood: 'calm', text: `Nothing holds requests back: ${count(inFlight)} in flight` };
  }
  if (!pace.isThrottled) return { mood: 'held', text: `Requests are held by ${pace.heldBy}` };
  const speed = pace.perSecond === undefined ? 'slowing down' : `sending ${rate(pace.perSecond)}`;
  return { mood: 'trouble', text: `The provider answers 429: ${speed} until it takes more` };
}
