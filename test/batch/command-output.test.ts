import { describe, expect, it } from 'vitest';
import { prompts } from './command/files.ts';
import { inProcess } from './command-in-process.ts';

describe('headgate run', () => {
  it('writes JSON with --json', async (test) => {
    const { run, write } = await inProcess(test);
    write('in.jsonl', prompts(3));
    const { stdout, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--json']);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ event: 'end', ok: 3, failed: 0, output: 'out.jsonl' });
    expect(stderr).toBe('');
  });

  it('moves no cursor on a terminal that cannot', async (test) => {
    const { run, write } = await inProcess(test);
    write('in.jsonl', prompts(1));
    const { stderr: terminal } = process;
    const before = Object.getOwnPropertyDescriptors(terminal);
    Object.assign(terminal, { isTTY: true, hasColors: () => false });
    test.onTestFinished(() => {
      Object.assign(terminal, { isTTY: before.isTTY?.value, hasColors: before.hasColors?.value });
    });
    const args = ['in.jsonl', '--out', 'out.jsonl', '--overwrite'];
    expect((await run(args, { TERM: 'xterm' })).stderr).toContain('\u001b[');
    expect((await run(args, { TERM: 'dumb' })).stderr).toBe('');
  });

  it('exits with 1 where requests failed, and says why', async (test) => {
    const { run, write } = await inProcess(test, {
      handle: (prompt) =>
        prompt === 'p1'
          ? { status: 400, body: { error: { message: 'too long', code: 'context_length' } } }
          : undefined,
    });
    write('in.jsonl', prompts(3));
    const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed {4}1; --retry-failed sends them again$/m);
    expect(stdout).toMatch(/^ {15}1 {2}400 context_length: too long$/m);
  });

  it('sends the key of the environment, never prints it, and asks for it where it is missing', async (test) => {
    const seen: (string | undefined)[] = [];
    const { run, write, command } = await inProcess(test, {
      handle: (_prompt, { headers }) => {
        seen.push(headers.authorization, String(headers['x-api-key']), String(headers['x-team']));
        return { status: 401, body: { error: { message: 'no' } } };
      },
    });
    write('in.jsonl', prompts(1));
    const env = { OPENAI_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: 'ak-secret' };
    const args = ['in.jsonl', '--out', 'out.jsonl', '--header', 'X-Team: blue'];
    const openai = await run(args, env);
    expect(openai).toMatchObject({ code: 1 });
    expect(openai.stdout).toContain('the server answered 401: no. Check the key');
    await run([...args, '--api', 'anthropic', '--overwrite'], env);
    expect(seen).toEqual(['Bearer sk-secret', 'undefined', 'blue', undefined, 'ak-secret', 'blue']);
    expect(openai.stdout + openai.stderr).not.toContain('secret');
    const none = await command(['run', 'in.jsonl', '--out', 'o.jsonl', '--model', 'm']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(
      'OPENAI_API_KEY is not set: set it to your key for api.openai.com',
    );
  });

  it('names what is wrong with its arguments, and exits with 2', async (test) => {
    const { run, write, command } = await inProcess(test);
    write('in.jsonl', prompts(1));
    const cases: [args: string[], says: string][] = [
      [['in.jsonl'], '--out FILE is missing'],
      [['--out', 'o'], "missing required argument 'input'"],
      [['none.jsonl', '--out', 'o'], 'none.jsonl: there is no such file'],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await run(args);
      expect(stderr).toContain(says);
      expect([code, args]).toEqual([2, args]);
    }
    const unknown = await command(['frobnicate']);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("unknown command 'frobnicate'"),
    ]);
    const help = await command(['run', '--help']);
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: headgate run')]);
  });

  it('reports a server that cannot be reached', async (test) => {
    const { write, server, run } = await inProcess(test);
    write('in.jsonl', prompts(3));
    await server.close();
    const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl']);
    expect(code).toBe(1);
    expect(stdout).toContain('stopped   the server does not answer (');
    expect(stdout).toContain('ECONNREFUSED');
    expect(stdout).toMatch(/^left {6}3: /m);
  });

  it('gives a call no more than its timeout, and tries again', async (test) => {
    let calls = 0;
    const { write, run } = await inProcess(test, { delayMs: () => (calls++ === 0 ? 30_000 : 0) });
    write('in.jsonl', prompts(1));
    const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl', '--timeout', '500ms']);
    expect([code, stdout.match(/^429s.*$/m)?.[0]]).toEqual([
      0,
      '429s      0 of 2 calls; 1 call was a repeat',
    ]);
  });

  it('sends the query of the address with each request, and names it nowhere', async (test) => {
    const urls: (string | undefined)[] = [];
    const { run, write, server } = await inProcess(test, {
      handle: (_prompt, { url }) => {
        urls.push(url);
        return { status: 500, text: 'oh' };
      },
    });
    write('in.jsonl', prompts(1));
    const address = `${server.url}/openai/v1?api-version=2024-10-21&key=secret`;
    const args = ['in.jsonl', '--out', 'out.jsonl', '--base-url', address, '--max-attempts', '1'];
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(1);
    expect(urls).toEqual(['/openai/v1/chat/completions?api-version=2024-10-21&key=secret']);
    expect(stdout + stderr).not.toContain('secret');
  });

  it('checks without sending for --dry-run', async (test) => {
    const { write, command } = await inProcess(test);
    write('in.jsonl', [{ prompt: 'a'.repeat(4_000), max_tokens: 500 }]);
    const args = ['run', 'in.jsonl', '--model', 'm', '--dry-run', '--rpm', '1'];
    const { code, stdout } = await command([...args, '--price-in', '1', '--price-out', '2']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tokens {4}about 1,0\d\d in, at most 500 out$/m);
    expect(stdout).toMatch(/^cost {6}at most about 0\.0020$/m);
    expect(stdout).toMatch(/^time {6}at least 1 min at your limits$/m);
  });

  it('says for --dry-run which output it assumes for lines without max_tokens', async (test) => {
    const { write, command } = await inProcess(test);
    write('in.jsonl', [{ prompt: 'a', max_tokens: 500 }, { prompt: 'b' }, { prompt: 'c' }]);
    const args = ['run', 'in.jsonl', '--model', 'm', '--dry-run'];
    const { stdout } = await command([...args, '--price-in', '0', '--price-out', '2']);
    expect(stdout).toMatch(
      /^tokens {4}about \d+ in, about 2,500 out: 1,000 for each of 2 lines without a bound$/m,
    );
    expect(stdout).toMatch(/^cost {6}about 0\.0050$/m);
  });
});

describe('headgate summary and headgate export', () => {
  it('counts all costs, as the report of a run does', async (test) => {
    const { write, run, command } = await inProcess(test);
    const args = ['in.jsonl', '--out', 'out.jsonl', '--price-in', '1000', '--price-out', '2000'];
    write('in.jsonl', [{ id: 'a', prompt: 'a' }]);
    await run(args);
    write('in.jsonl', [{ id: 'a', prompt: 'b' }]);
    const { stdout } = await run([...args, '--changed', 'rerun']);
    expect(stdout).toMatch(/^cost {6}0\.040 for all results in the file$/m);
    const json = await command(['summary', 'out.jsonl', '--json']);
    const tokens = { in: 20, out: 10 };
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: 1, attempts: 2, cost: 0.04, tokens });
  });

  it('say how many good results have no price', async (test) => {
    const { write, run, command } = await inProcess(test);
    write('in.jsonl', [{ id: 'a', prompt: 'a' }]);
    await run(['in.jsonl', '--out', 'out.jsonl', '--price-in', '1000', '--price-out', '2000']);
    expect((await command(['summary', 'out.jsonl'])).stdout).toMatch(/^cost {6}0\.020$/m);
    write('in.jsonl', [{ id: 'b', prompt: 'b' }]);
    await run(['in.jsonl', '--out', 'out.jsonl', '--append']);
    expect((await command(['summary', 'out.jsonl'])).stdout).toMatch(
      /^cost {6}0\.020, without 1 good result that has no price or no usage$/m,
    );
    const { stdout } = await command(['summary', 'out.jsonl', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ cost: 0.02, withoutCost: 1 });
  });

  it('read the last result of each request', async (test) => {
    let isUp = false;
    const { write, run, command } = await inProcess(test, {
      handle: (prompt) => {
        if (prompt !== 'say, "hi"\nyou' || isUp) return undefined;
        return { status: 422, body: { message: 'no' } };
      },
    });
    write('in.jsonl', [
      { id: 'a', prompt: 'say, "hi"\nyou', metadata: { n: 1 } },
      { id: 'b', prompt: 'b' },
    ]);
    await run(['in.jsonl', '--out', 'out.jsonl']);
    const before = await command(['summary', 'out.jsonl']);
    expect(before.stdout).toMatch(/^good {6}1 \(50\.0 %\)$/m);
    expect(before.stdout).toMatch(/1 {2}422: no/);
    isUp = true;
    expect((await run(['in.jsonl', '--out', 'out.jsonl', '--retry-failed'])).code).toBe(0);
    const json = await command(['summary', 'out.jsonl', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: 2,
      failed: 0,
      tokens: { in: 20, out: 10 },
    });
    expect((await command(['export', 'out.jsonl'])).stdout).toBe('B\nSAY, "HI"\\nYOU\n');
    expect((await command(['export', 'out.jsonl', '--format', 'csv'])).stdout).toBe(
      'id,text,error,input_tokens,output_tokens,cost\nb,B,,10,5,\na,"SAY, ""HI""\nYOU",,10,5,\n',
    );
    const flat = (await command(['export', 'out.jsonl', '--format', 'jsonl-flat'])).stdout;
    expect(JSON.parse(flat.split('\n')[1] ?? '')).toMatchObject({ id: 'a', metadata: { n: 1 } });
    const none = await command(['summary', 'in.jsonl']);
    expect([none.code, none.stderr]).toEqual([
      2,
      'headgate: in.jsonl:1: this is no line of results\n',
    ]);
  });
});
