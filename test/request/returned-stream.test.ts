import { expect, it } from 'vitest';
import { isUnread } from '../../src/request/returned-stream.ts';

async function* chunks() {
  yield 'a';
}

it.each<[string, unknown]>([
  ['an async iterator', chunks()],
  ['a ReadableStream', new ReadableStream()],
  ['a result of the AI SDK', { fullStream: new ReadableStream() }],
])('%s is a stream that nobody has read', (_, value) => {
  expect(isUnread(value)).toBe(true);
});

it.each<[string, unknown]>([
  ['a text', 'text'],
  ['nothing', null],
  ['a Response', new Response('text')],
  ['an object', { choices: [] }],
  ['an array', ['a']],
])('%s is none', (_, value) => {
  expect(isUnread(value)).toBe(false);
});
