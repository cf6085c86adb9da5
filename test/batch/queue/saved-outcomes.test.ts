import { expect, it } from 'vitest';
import { SavedOutcomes } from '../../../src/batch/queue/saved-outcomes.ts';
import type { BatchRequest } from '../../../src/batch/request.ts';

function request(id: string): BatchRequest {
  return { id, url: '/v1/x', body: {}, place: id, hash: id };
}

it('the queue may forget the answers of lines that are on disk, each once', () => {
  const forgotten: string[] = [];
  const queue = {
    counts: { queued: 0, active: 0, hasWorker: undefined },
    withdraw: () => {},
    collect: async () => {},
    forget: (requests: readonly BatchRequest[]) => forgotten.push(...requests.map(({ id }) => id)),
  };
  const file = { appended: 0, saved: 0 };
  const outcomes = new SavedOutcomes(queue, file);
  const tell = () => {
    outcomes.tell();
    return forgotten.splice(0);
  };
  for (const id of ['a', 'b', 'c']) {
    file.appended += 1;
    outcomes.add(request(id));
  }
  // It has no line.
  outcomes.add(request('d'));
  expect(tell()).toEqual([]);
  file.saved = 2;
  expect(tell()).toEqual(['a', 'b']);
  expect(tell()).toEqual([]);
  file.saved = 3;
  expect(tell()).toEqual(['c', 'd']);
});
