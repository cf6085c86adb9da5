import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../examples/batch/report.ts';
import { readResults, runProgram, startServer, temporaryFolder } from './program.ts';

/** Real processes and real time: what is tested is how the program starts and ends. */
describe.concurrent('the main program', () => {
  it('sends every prompt once and ends by itself', async (test) => {
    const out = join(await temporaryFolder(test), 'results.jsonl');
    const { code, stdout, stderr } = await runProgram(test, [
      '--json',
      '--limit',
      '40',
      '--out',
      out,
    ]);
    const report: Report = JSON.parse(stdout);
    expect(report).toMatchObject({ ended: 'complete', prompts: 40, succeeded: 40, failed: 0 });
    expect(report.attempts).toBeGreaterThanOrEqual(40 + report.rejected);
    expect(report.goodput.capacityPerSecond).toBeGreaterThan(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(0);

    const results = await readResults(out);
    const byIndex = [...results].sort((a, b) => a.index - b.index);
    expect(byIndex.map(({ index }) => index)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(new Set(results.map(({ id }) => id)).size).toBe(40);
    expect(byIndex[0]).toMatchObject({ id: 'extract-030', status: 'ok' });
    for (const { text, latencyMs } of results) {
      expect(text).toMatch(/\w/);
      expect(latencyMs).toBeGreaterThan(0);
    }
    const urls = [...stderr.matchAll(/http:\S+/g)].map(([url]) => url);
    expect(urls).toHaveLength(2);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  });

  it('writes no escape sequence where there is no terminal', async (test) => {
    const { stdout, stderr } = await runProgram(test, ['--limit', '30']);
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout).toContain('succeeded');
  });

  it('explains itself', async (test) => {
    const { code, stdout } = await runProgram(test, ['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('--base-url URL');
  });

  it.for<[string, string, string]>([
    ['--limit', '0', '`--limit` must be digits, a number from 1 to 2^53 - 1, got 0'],
    ['--tempo', '3', "Unknown option '--tempo'"],
  ])('refuses %s %s', async ([option, value, message], test) => {
    const { code, stdout, stderr } = await runProgram(test, [option, value]);
    expect(stderr.split('\n')[0]).toBe(message);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.for<[string, string[], NodeJS.ProcessEnv, RegExp]>([
    ['variable', [], { HEADGATE_CONCURRENCY: '0' }, /^`HEADGATE_CONCURRENCY` must be .*got "?0/],
    ['file', ['--config', 'nowhere.json'], {}, /^nowhere\.json: there is no such file$/],
  ])('refuses a wrong %s before it has started anything', async ([, args, env, line], test) => {
    const { code, stdout, stderr } = await runProgram(test, args, env);
    expect(stderr.split('\n')[0]).toMatch(line);
    expect(stderr.split('\n')).toHaveLength(3);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('names a file that is not there', async (test) => {
    const { code, stdout, stderr } = await runProgram(test, ['--prompts', 'nowhere.jsonl']);
    expect(stderr).toBe('nowhere.jsonl: there is no such file\n');
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  it('names a line that is no prompt, before it has sent anything', async (test) => {
    const server = await startServer(test, {});
    const prompts = join(await temporaryFolder(test), 'prompts.jsonl');
    await writeFile(prompts, '{"id":"a","prompt":"hello"}\n\n{"id":"b"\n');
    const { code, stderr } = await runProgram(test, [
      '--prompts',
      prompts,
      '--base-url',
      server.url,
    ]);
    expect(stderr).toContain(`${prompts}:3: not JSON: `);
    expect(code).toBe(1);
    expect(server.requests).toHaveLength(0);
  });

  it('comes through rejections', async (test) => {
    const failures = [{ fault: 'error', probability: 0.4, status: 429 } as const];
    const server = await startServer(test, { seed: 1, failures });
    const args = ['--json', '--adaptive', 'off', '--limit', '8', '--base-url', server.url];
    const { code, stdout } = await runProgram(test, args);
    const report: Report = JSON.parse(stdout);
    expect(report).toMatchObject({ succeeded: 8, failed: 0 });
    expect(report.goodput).toMatchObject({ capacityPerSecond: null, share: null });
    const rejected = server.requests.filter(({ status }) => status === 429).length;
    expect(report.rejected).toBe(rejected);
    expect(report.attempts).toBe(8 + rejected);
    expect(rejected).toBeGreaterThan(0);
    expect(code).toBe(0);
  });

  it('ends early when nobody listens', async (test) => {
    const server = await startServer(test, {});
    await server.close();
    const { code, stdout, stderr } = await runProgram(test, ['--json', '--base-url', server.url]);
    expect(stderr).toContain(
      `ended early: cannot reach ${server.url}/v1/chat/completions: connect`,
    );
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'error', succeeded: 0 });
    expect(code).toBe(1);
  });

  it('ends early when the key is refused, in the words of the server', async (test) => {
    const server = await startServer(test, { apiKeys: ['right'], latency: 100 });
    const args = ['--json', '--concurrency', '4', '--base-url', `${server.url}/v1/`];
    const { code, stdout, stderr } = await runProgram(test, args, { OPENAI_API_KEY: 'wrong' });
    expect(stderr).toContain(
      '/v1/chat/completions answered 401: No API key was given, or one that is not known.',
    );
    const report: Report = JSON.parse(stdout);
    expect(report).toMatchObject({ ended: 'error', succeeded: 0, prompts: 320 });
    expect(report.unfinished).toBeGreaterThan(300);
    expect(server.requests.length).toBe(report.failed);
    expect(code).toBe(1);
  });

  it('goes on after one bad request, and reports it', async (test) => {
    const server = await startServer(test, {});
    const folder = await temporaryFolder(test);
    const prompts = join(folder, 'prompts.jsonl');
    const out = join(folder, 'results.jsonl');
    const bad = { id: 'bad', messages: [{ role: 'user', content: 5 }] };
    const lines = [{ prompt: 'one' }, bad, { id: 'last', prompt: 'two', max_tokens: 9 }];
    await writeFile(prompts, lines.map((line) => JSON.stringify(line)).join('\n'));
    const args = ['--prompts', prompts, '--base-url', server.url, '--out', out];
    const { code, stdout } = await runProgram(test, args, { OPENAI_API_KEY: 'any' });
    expect(stdout).toContain('bad: ');
    expect(stdout).toContain('answered 400: ');
    expect(stdout).not.toContain('capacity');
    expect(code).toBe(1);
    const results = await readResults(out);
    expect(results.map(({ id, status }) => [id, status]).sort()).toEqual([
      ['bad', 'failed'],
      ['last', 'ok'],
      ['line 1', 'ok'],
    ]);
    expect(results.find(({ id }) => id === 'bad')?.error).toContain('answered 400');
  });
});
