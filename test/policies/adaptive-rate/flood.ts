import { corePlayer, OK, TOO_MANY } from './core-player.ts';

/**
 * What an adversary does with the n-th attempt that was sent at a time, given the outcome before
 * it.
 */
export type Adversary = (attempt: {
  readonly at: number;
  readonly n: number;
  readonly wasAccepted: boolean;
  readonly chance: number;
}) => boolean;

export interface Siege {
  readonly accepts: Adversary;
  /** How long answers and rejections take, drawn by chance up to these, in ms. */
  readonly answerMs: number;
  readonly rejectMs: number;
  readonly random: () => number;
  readonly minutes: number;
  readonly maxLimit?: number;
  /** No more are sent than so many. */
  readonly most?: number;
}

/** What was sent in one minute, after the first rejection could have come back. */
export interface Minute {
  accepted: number;
  rejected: number;
}

interface Out {
  readonly at: number;
  readonly end: () => void;
}

/** Sends as fast as the policy lets it to a provider that is wants it to flood. */
export function besiege(siege: Siege): Minute[] {
  const { accepts, answerMs, rejectMs, random, minutes, maxLimit = 64, most = 30_000 } = siege;
  const player = corePlayer({ maxLimit });
  const counts = Array.from({ length: minutes }, (): Minute => ({ accepted: 0, rejected: 0 }));
  const out: Out[] = [];
  let knownAt = Number.POSITIVE_INFINITY;
  let wasAccepted = false;
  const send = (n: number) => {
    const charge = player.send();
    const isAccepted = accepts({ at: player.now, n, wasAccepted, chance: random() });
    wasAccepted = isAccepted;
    const takesMs = 1 + random() * (isAccepted ? answerMs : rejectMs);
    if (!isAccepted) knownAt = Math.min(knownAt, player.now + takesMs);
    const minute = counts[Math.floor(player.now / 60_000)];
    if (minute !== undefined && player.now > knownAt) {
      if (isAccepted) minute.accepted += 1;
      else minute.rejected += 1;
    }
    const end = () => player.end(charge, { verdict: isAccepted ? OK : TOO_MANY });
    out.push({ at: player.now + takesMs, end });
    out.sort((a, b) => a.at - b.at);
  };
  let sent = 0;
  while (player.now < minutes * 60_000 && sent < most) {
    const waitMs = player.wait();
    if (waitMs === 0) {
      send(sent);
      sent += 1;
      continue;
    }
    const next = out[0];
    const at = player.now + waitMs;
    if (next !== undefined && next.at <= at) {
      out.shift();
      player.now = next.at;
      next.end();
    } else if (at === Number.POSITIVE_INFINITY) throw new Error('it waits for nothing');
    else player.now = Math.max(at, player.now + 1e-6);
  }
  return counts;
}
