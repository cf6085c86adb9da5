import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Project, throttle, throttleFrom } from '../../../src/index.ts';

type Run = (project: Project<number, never>) => Promise<unknown>;

const WAYS: readonly (readonly [string, Run])[] = [
  ['throttle', (project) => lastValueFrom(from([1, 2]).pipe(throttle(project), toArray()))],
  [
    'limiter.throttle',
    (project) => lastValueFrom(from([1]).pipe(createLimiter().throttle(project), toArray())),
  ],
  ['throttleFrom', (project) => lastValueFrom(throttleFrom([1, 2], project))],
];

describe('a project that returns no results', () => {
  it.each(WAYS)('fails the stream with its name: %s', async (_name, run) => {
    const returning = (value: unknown) => (() => value) as unknown as Project<number, never>;
    const bound = '`project()` must be an Observable, a promise or an iterable, got';
    await expect(run(returning(undefined))).rejects.toThrow(`${bound} undefined`);
    await expect(run(returning(5))).rejects.toThrow(`${bound} 5`);
  });
});
