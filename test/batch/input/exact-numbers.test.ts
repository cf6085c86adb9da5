import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createHttpSender } from '../../../src/batch/http/sender.ts';
import { parseJsonLine } from '../../../src/batch/input/parse-line.ts';
import { batchRig } from '../rig.ts';

const defaults = { api: 'chat', model: undefined } as const;
const parse = (line: string) => parseJsonLine(line, 'in:1', 'line-1', defaults);

it('numbers that JavaScript rounds are sent as they were written', async (test) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      bodies.push(body);
      response.end('{"choices": [{}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = createHttpSender({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: undefined,
    timeoutMs: 10_000,
  });
  test.onTestFinished(async () => {
    await sender.close();
    server.close();
  });
  const rig = await batchRig(test);
  const numbers = '"seed":9007199254740993,"list":[-12345678901234567890,1e400,0.1,1]';
  const text = '"stop":"12345678901234567890 \\\\\\" 12345678901234567890"';
  rig.write('in.jsonl', `{"prompt": "A", ${numbers}, ${text}}\n`);
  expect(await rig.run({ send: sender.send })).toMatchObject({ ok: 1 });
  const messages = '"messages":[{"role":"user","content":"A"}]';
  expect(bodies).toEqual([`{"model":"m",${messages},${numbers},${text}}`]);
  // Another number is another content, though JavaScript has both as 9007199254740992.
  const other = numbers.replace('0993', '0992');
  rig.write('in.jsonl', `{"prompt": "A", ${other}, ${text}}\n`);
  await expect(rig.run()).rejects.toThrow('1 line has changed');
});

it('an id that JavaScript would round is kept as it was written', () => {
  const request = parse('{"id": 9007199254740993, "body": {"model": "m", "messages": [{}]}}');
  expect(request).toMatchObject({ id: '9007199254740993' });
});

it('a body without such numbers is not kept as text', () => {
  const line = '{"messages": [{"content": "1234567890123456789"}], "model": "m", "n": 1e3}';
  const request = parse(line);
  expect(request.body.n).toBe(1_000);
  expect(request).not.toHaveProperty('json');
});

it('digits in a string are not changed, next to any number', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '9999999999999999', 'e9', '-', '{') });
  const big = fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }).map(String);
  const property = fc.property(fc.array(text), big, (texts, number) => {
    const message = `{"a":${JSON.stringify(texts)},"b":${number}}`;
    expect(parse(`{"messages":[${message}],"model":"m"}`).json).toContain(message);
  });
  fc.assert(property, { numRuns: 300 });
});
