import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, type TestContext, vi } from 'vitest';
import { prompts } from './command/files.ts';
import { inProcess } from './command-in-process.ts';

/** ESC, BEL, CSI in one byte, and a character that reverses text. */
const COMMANDS = '\u001b]0;title\u0007\u001b[2J\u009b31m\u202e';
const CONTROLS = /[^\P{Cc}\n\t]|\u202e/u;

const MIB = 1024 * 1024;

/** A server that answers with 256 MiB, and counts the bytes sent. */
async function longServer(test: TestContext) {
  const chunk = Buffer.alloc(MIB, 'a');
  let sent = 0;
  const fill = (response: ServerResponse) => {
    while (!response.destroyed && sent < 256) {
      sent += 1;
      if (!response.write(chunk)) {
        response.once('drain', () => fill(response));
        return;
      }
    }
    response.end();
  };
  const server = createServer((_request, response) => fill(response)).listen(0, '127.0.0.1');
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, sentMiB: () => sent };
}

it('an answer is read as far as 64 MiB, and a longer one fails its request for good', async (test) => {
  const { run, write, results } = await inProcess(test);
  const { url, sentMiB } = await longServer(test);
  write('in.jsonl', prompts(1));
  const { stdout } = await run(['in.jsonl', '--out', 'out.jsonl', '--base-url', url]);
  expect(stdout).toMatch(/^429s {6}0 of 1 call$/m);
  expect(sentMiB()).toBeLessThan(128);
  expect(results()).toMatchObject([
    {
      response: null,
      error: { code: 'ANSWER_TOO_LONG', message: /answered with more than 64 MiB/ },
    },
  ]);
});

it('the text of a server’s error controls no terminal', async (test) => {
  const { run, command, write } = await inProcess(test, {
    handle: () => ({ status: 400, body: { error: { message: COMMANDS, code: COMMANDS } } }),
  });
  write('in.jsonl', prompts(6));
  const { stdout, stderr } = await run(['in.jsonl', '--out', 'out.jsonl']);
  const { stdout: said } = await command(['summary', 'out.jsonl']);
  expect(stdout).toContain('\ufffd]0;title');
  expect(said).toContain('\ufffd]0;title');
  expect(stdout + stderr + said).not.toMatch(CONTROLS);
});

it('an error that ends the run, or a file, controls no terminal', async (test) => {
  const { run, command, write } = await inProcess(test, {
    handle: () => ({ status: 401, body: { error: { message: COMMANDS } } }),
  });
  write('in.jsonl', prompts(1));
  const { stdout } = await run(['in.jsonl', '--out', 'out.jsonl']);
  write('bad.jsonl', `${COMMANDS}\n`);
  const { stderr } = await run(['bad.jsonl', '--out', 'other.jsonl']);
  const line = { custom_id: 'a', response: null, headgate: { hash: '0123456789' } };
  write('made.jsonl', [{ ...line, error: { code: COMMANDS, message: COMMANDS } }]);
  const { stdout: said } = await command(['summary', 'made.jsonl']);
  expect(stdout).toContain('stopped   the server answered 401');
  expect(stderr).toContain('bad.jsonl:1: not JSON');
  expect(said).toContain('\ufffd]0;title');
  expect(stdout + stderr + said).not.toMatch(CONTROLS);
});

it('an answer controls no terminal, is whole in a pipe, and is one line of text', async (test) => {
  const { run, command, write } = await inProcess(test, {
    handle: () => ({ body: { choices: [{ message: { content: `a${COMMANDS}\r\nb` } }] } }),
  });
  write('in.jsonl', prompts(1));
  await run(['in.jsonl', '--out', 'out.jsonl']);
  const { stdout: piped } = await command(['export', 'out.jsonl']);
  expect(piped).toBe(`a${COMMANDS}\\r\\nb\n`);
  const { isTTY } = process.stdout;
  test.onTestFinished(() => {
    process.stdout.isTTY = isTTY;
  });
  process.stdout.isTTY = true;
  for (const format of ['text', 'csv', 'jsonl-flat']) {
    const { stdout } = await command(['export', 'out.jsonl', '--format', format]);
    expect(stdout).toContain('a');
    expect(stdout).not.toMatch(CONTROLS);
  }
});

it('a quote that is never closed makes no row of more than 64 MiB', async (test) => {
  const { run, write } = await inProcess(test);
  write('in.csv', `prompt\n"${'a\n'.repeat(33 * MIB)}`);
  const { code, stderr } = await run(['in.csv', '--out', 'out.jsonl']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/in\.csv:\d+: not a table: Max Record Size/);
});

it('the error of a wrong address shows no password and no query', async (test) => {
  const { run, write } = await inProcess(test);
  write('in.jsonl', prompts(1));
  vi.stubEnv('OPENAI_API_KEY', 'none');
  for (const option of ['--proxy', '--base-url']) {
    const address = 'socks5://user:pass@word@host/path?key=secret';
    const { stderr } = await run(['in.jsonl', '--out', 'out.jsonl', option, address]);
    expect(stderr).toContain(
      `${option} must be an http or https URL, got "socks5://…@host/path?…"`,
    );
  }
});
