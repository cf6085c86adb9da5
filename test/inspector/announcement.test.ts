import { describe, expect, it } from 'vitest';
import { announcementOf, spokenText } from '../../src/inspector/page/announcement.ts';

const waiting = (count: string, id = 1) =>
  ({ id, name: `chat ${id}`, condition: 'held', headline: `${count} wait for a slot.` }) as const;
const outage = {
  id: 1,
  name: 'chat 1',
  condition: 'outage',
  headline: 'No server answers.',
} as const;

describe('the announcement of a state', () => {
  const first = announcementOf(waiting('1,204'), undefined, 0);

  it('names the limiter, its condition and the cause', () => {
    expect(first.text).toBe('chat 1: Held back. 1,204 wait for a slot.');
  });

  it('stays while only numbers change', () => {
    expect(announcementOf(waiting('87.5'), first, 60_000)).toBe(first);
  });

  it('follows another condition at most once in 5 s', () => {
    expect(announcementOf(outage, first, 4_999)).toBe(first);
    expect(announcementOf(outage, first, 5_000).text).toBe('chat 1: Outage. No server answers.');
  });

  it('is left out once it is old', () => {
    expect(spokenText(first, 4_999)).toBe(first.text);
    expect(spokenText(first, 5_000)).toBe('');
  });

  it('follows another limiter at once', () => {
    expect(announcementOf(waiting('3', 2), first, 1).text).toBe(
      'chat 2: Held back. 3 wait for a slot.',
    );
  });
});
