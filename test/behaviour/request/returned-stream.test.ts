import { firstValueFrom, of } from 'rxjs';
import { beforeEach, expect, it, vi } from 'vitest';

let warnings: string[] = [];

beforeEach(() => {
  warnings = [];
  vi.resetModules();
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)));
});

async function* chunks() {
  yield 'a';
}

const WARNING = expect.stringMatching(/^headgate: a task has returned a stream/);

it.each<[string, () => object]>([
  ['an async iterator', chunks],
  ['a ReadableStream', () => new ReadableStream()],
  ['a result of the AI SDK', () => ({ fullStream: new ReadableStream() })],
])('warns once of a task that returns %s', async (_, stream) => {
  const { createLimiter } = await import('../../../src/index.ts');
  const limiter = createLimiter();
  await limiter.run(async () => stream());
  expect(warnings).toEqual([WARNING]);
  await limiter.run(stream);
  expect(warnings).toHaveLength(1);
});

it('warns of a project that returns a stream, and not of one that yields it', async () => {
  const { createLimiter } = await import('../../../src/index.ts');
  const limiter = createLimiter();
  expect(await firstValueFrom(of(1).pipe(limiter.throttle(chunks)))).toBe('a');
  expect(warnings).toEqual([]);
  await firstValueFrom(of(1).pipe(limiter.throttle(async () => chunks())));
  expect(warnings).toEqual([WARNING]);
});

it.each<[string, () => unknown]>([
  ['a text', () => 'text'],
  ['nothing', () => null],
  ['a Response', () => new Response('text')],
  ['an object', () => ({ choices: [] })],
  ['an array', () => ['a']],
])('does not warn of %s', async (_, value) => {
  const { createLimiter } = await import('../../../src/index.ts');
  await createLimiter().run(async () => value());
  expect(warnings).toEqual([]);
});
