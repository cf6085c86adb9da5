import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyUsage } from '../../src/providers/body-usage.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const EVENTS = 'text/event-stream';

/** What is found in a body of a type. */
function reader(type: string) {
  const found: unknown[] = [];
  const response = new Response('', { headers: { 'content-type': type } });
  const usage = BodyUsage.of(response, (value) => found.push(value));
  return { found, usage };
}

function inParts(type: string, parts: readonly unknown[]): unknown[] {
  const { found, usage } = reader(type);
  for (const part of parts) usage?.part(part);
  usage?.ended();
  return found;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const event = (value: unknown) => `event: x\r\ndata: ${JSON.stringify(value)}\r\n\r\n`;

describe('BodyUsage', () => {
  it.each([
    ['text/plain', undefined],
    ['application/jsonlines', undefined],
    ['application/x-ndjson', BodyUsage],
    ['application/stream+json', BodyUsage],
    ['Application/JSON', BodyUsage],
    [JSON_TYPE, BodyUsage],
    ['application/vnd.api+json', BodyUsage],
    ['text/event-stream;charset=utf-8', BodyUsage],
  ])('reads a body of type %s: %s', (type, made) => {
    const { usage } = reader(type);
    if (made === undefined) expect(usage).toBeUndefined();
    else expect(usage).toBeInstanceOf(made);
  });

  it('passes on the value of JSON, and reads its text and its bytes', () => {
    const value = { id: 1, usage: { total_tokens: 5 } };
    const text = JSON.stringify(value, undefined, 2);
    for (const whole of [value, text, bytes(text), bytes(text).buffer]) {
      const { found, usage } = reader(JSON_TYPE);
      usage?.whole(whole);
      usage?.ended();
      expect(found).toEqual([value]);
    }
  });

  it('finds the events with a usage, however the bytes are cut', () => {
    const events = [
      { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
      { delta: 'Grüße, 你好' },
      { usageMetadata: { totalTokenCount: 9 } },
      { choices: [], usage: { total_tokens: 9 }, note: 'ü' },
    ];
    const all = bytes(`: hello\n\n${events.map(event).join('')}data: [DONE]\n\n`);
    const cuts = fc.array(fc.nat(all.length), { maxLength: 30 });
    fc.assert(
      fc.property(cuts, (places) => {
        const ends = [...places.sort((a, b) => a - b), all.length];
        const parts = ends.map((end, n) => all.subarray(ends[n - 1] ?? 0, end));
        expect(inParts(EVENTS, parts)).toEqual([events[0], events[2], events[3]]);
      }),
    );
  });

  it('finds the usage in a last line without an end', () => {
    expect(inParts(EVENTS, ['data:{"usage":{}}'])).toEqual([{ usage: {} }]);
  });

  it('finds the usage in an event of several lines', () => {
    const value = { choices: [], usage: { total_tokens: 9 } };
    const lines = JSON.stringify(value, undefined, 2).split('\n');
    for (const end of ['\n', '\r\n']) {
      const text = lines.map((line) => `data: ${line}${end}`).join('');
      expect(inParts(EVENTS, [`${text}${end}`, `event: x${end}${text}${end}`])).toEqual([
        value,
        value,
      ]);
    }
  });

  it('finds the usage in lines of JSON', () => {
    const end = '{"done":true,"eval_count":5}';
    const lines = '{"done":false}\n{"usage":{"total_tokens":1}}\n\n';
    const found = [{ usage: { total_tokens: 1 } }, JSON.parse(end)];
    for (const text of [lines + end, `${lines}${end}\n`]) {
      expect(inParts('application/x-ndjson', [...text])).toEqual(found);
    }
  });

  it('finds the usage at the start or the end of a long value', () => {
    const usage = { total_tokens: 5, details: [{ tokens: 4 }], of: { text: 1 } };
    const data = 'ü"usage":{'.repeat(300_000);
    for (const value of [
      { data, usage, model: 'm' },
      { usage, data },
      { data, meta: usage },
    ]) {
      const found = [{ [Object.hasOwn(value, 'meta') ? 'meta' : 'usage']: usage }];
      const text = JSON.stringify(value, undefined, 2);
      const all = bytes(text);
      const parts = Array.from({ length: 80 }, (_, n) =>
        all.subarray(n * 60_000, n * 60_000 + 60_000),
      );
      expect(inParts(JSON_TYPE, [text])).toEqual(found);
      expect(inParts(JSON_TYPE, parts)).toEqual(found);
      expect(inParts(EVENTS, [event(value)])).toEqual(found);
    }
  });

  it('ignores broken JSON, other parts, and a long value without a usage at its ends', () => {
    const [half] = [' '.repeat(600_000)];
    const long = `[${half}{"usage":{"total_tokens":1}}${half}]`;
    expect(inParts(JSON_TYPE, ['{"usage":{'])).toEqual([]);
    expect(inParts(JSON_TYPE, [5, undefined, '{"usage":{}}'])).toEqual([{ usage: {} }]);
    expect(inParts(JSON_TYPE, [long])).toEqual([]);
    expect(inParts(JSON_TYPE, [long.slice(0, 900_000), long.slice(900_000)])).toEqual([]);
    expect(inParts(JSON_TYPE, [`${half}${half}"usage":{]}`])).toEqual([]);
    expect(inParts(EVENTS, [`data:${long}\n\ndata:{"usage":{}}\n`])).toEqual([{ usage: {} }]);
    expect(inParts(EVENTS, ['data:{"usage":null}\n\n'])).toEqual([]);
  });

  it('ignores bytes that cannot be decoded, as more than a string can hold', () => {
    const { buffer } = bytes('{"usage":{"total_tokens":1}}');
    structuredClone(buffer, { transfer: [buffer] });
    expect(inParts(JSON_TYPE, [buffer])).toEqual([]);
  });
});
