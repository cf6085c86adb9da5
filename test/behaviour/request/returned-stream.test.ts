import { firstValueFrom, of } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/index.ts';

async function* chunks() {
  yield 'a';
}

it('is warned of once, and a stream that is yielded is not', async () => {
  const warnings: unknown[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(text));
  const limiter = createLimiter();
  expect(await firstValueFrom(of(1).pipe(limiter.throttle(chunks)))).toBe('a');
  await limiter.run(async () => new Response('text'));
  expect(warnings).toEqual([]);
  await firstValueFrom(of(1).pipe(limiter.throttle(async () => chunks())));
  expect(warnings).toEqual([expect.stringMatching(/^headgate: a task has returned a stream/)]);
  await limiter.run(async () => chunks());
  expect(warnings).toHaveLength(1);
});
