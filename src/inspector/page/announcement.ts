import type { GateDetail } from '../wire.ts';
import { CONDITION_NAMES } from './status-words.ts';

/** The shortest time between two announcements about one limiter or stream. */
const QUIET_MS = 5_000;

/** What a screen reader was told last. */
export interface Announcement {
  readonly text: string;
  /** The text without its numbers. */
  readonly sense: string;
  /** The limiter or stream that the text is about. */
  readonly gate: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Returns the announcement of a state: the last one while only numbers differ, or while the last
 * one is recent. A screen reader would read each new number, four times a second.
 */
export function announcementOf(
  { id, name, condition, headline }: Announced,
  last: Announcement | undefined,
  at: number,
): Announcement {
  const text = `${name}: ${CONDITION_NAMES[condition]}. ${headline}`;
  const sense = text.replace(/[\d.,]+/g, '0');
  const isSame = last?.gate === id && (last.sense === sense || at - last.at < QUIET_MS);
  return isSame ? last : { text, sense, gate: id, at };
}

/** The text for a screen reader. An old one is left out: its numbers differ from those beside it. */
export function spokenText({ text, at: said }: Announcement, at: number): string {
  return at - said < QUIET_MS ? text : '';
}

type Announced = Pick<GateDetail, 'id' | 'name' | 'condition' | 'headline'>;
