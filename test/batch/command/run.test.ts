import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandLine, jsonLines, prompts, rig, start } from './command.ts';

describe('headgate run', () => {
  it('sends a file, reports, and exits with 0', async (test) => {
    const { run, write, results, server } = await rig(test);
    write('in.jsonl', prompts(50));
    const args = ['in.jsonl', '--out', 'out.jsonl', '--price-in', '1', '--price-out', '2'];
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^done {6}50 of 50$/m);
    expect(stdout).toMatch(/^429s {6}0 of 50 calls$/m);
    expect(stdout).toMatch(/^tokens {4}500 in, 250 out$/m);
    expect(stdout).toMatch(/^cost {6}0\.0010 for all results in the file$/m);
    expect(stdout).toMatch(/^results {3}out\.jsonl$/m);
    expect(results()).toHaveLength(50);
    expect(server.bodies[0]).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'p0' }],
    });
  });

  it('reads standard input', async (test) => {
    const { run, results } = await rig(test);
    const input = jsonLines(prompts(5));
    expect((await run(['-', '--out', 'out.jsonl'], { input })).code).toBe(0);
    const again = await run(['-', '--out', 'out.jsonl'], { input: `${input}{"prompt": "more"}\n` });
    expect(again.stdout).toMatch(/^done {6}6, 5 of them in earlier runs$/m);
    expect(results()).toHaveLength(6);
    const other = await run(['-', '--out', 'out.jsonl'], { input: '{"prompt": "other"}\n' });
    expect(other.code).toBe(1);
    expect(other.stdout).toContain('out.jsonl has no result of the first line');
    const bad = await run(['-', '--out', 'new.jsonl'], { input: `${input}oh\n` });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('stdin:6: not JSON');
    expect(results('new.jsonl')).toHaveLength(5);
  });

  it('writes JSON for machines', async (test) => {
    const { run, write } = await rig(test);
    write('in.jsonl', prompts(3));
    const { stdout, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--json']);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ event: 'end', ok: 3, failed: 0, output: 'out.jsonl' });
    expect(stderr).toBe('');
  });

  it('exits with 1 where requests failed, and says why', async (test) => {
    const { run, write } = await rig(test, {
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
    const { run, write, command } = await rig(test, {
      handle: (_prompt, { headers }) => {
        seen.push(headers.authorization, String(headers['x-api-key']), String(headers['x-team']));
        return { status: 401, body: { error: { message: 'no' } } };
      },
    });
    write('in.jsonl', prompts(1));
    const env = { OPENAI_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: 'ak-secret' };
    const args = ['in.jsonl', '--out', 'out.jsonl', '--header', 'X-Team: blue'];
    const openai = await run(args, { env });
    expect(openai).toMatchObject({ code: 1 });
    expect(openai.stdout).toContain('the server answered 401: no. Check the key');
    await run([...args, '--api', 'anthropic', '--overwrite'], { env });
    expect(seen).toEqual(['Bearer sk-secret', 'undefined', 'blue', undefined, 'ak-secret', 'blue']);
    expect(openai.stdout + openai.stderr).not.toContain('secret');
    const none = await command(['run', 'in.jsonl', '--out', 'o.jsonl', '--model', 'm']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(
      'OPENAI_API_KEY is not set: set it to your key for api.openai.com',
    );
  });

  // Others are tested without a process each, in ../wrong-options.test.ts.
  it('names what is wrong with its options, and exits with 2', async (test) => {
    const { run, write, command } = await rig(test);
    write('in.jsonl', prompts(1));
    const cases: [args: string[], says: string][] = [
      [['in.jsonl'], '--out FILE is missing'],
      [['--out', 'o'], "missing required argument 'input'"],
      [['in.jsonl', '--out', 'o', '--rpm', '-3'], '--rpm must be a whole number >= 1, got "-3"'],
      [['none.jsonl', '--out', 'o'], 'none.jsonl: there is no such file'],
    ];
    const ended = await Promise.all(cases.map(([args]) => run(args)));
    for (const [index, { code, stderr }] of ended.entries()) {
      expect(stderr).toContain(cases[index]?.[1]);
      expect([code, cases[index]]).toEqual([2, cases[index]]);
    }
    expect((await command(['frobnicate'])).code).toBe(2);
    const { code, stdout } = await command(['--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    expect((await command(['run', '--help'])).code).toBe(0);
  });

  it('drains for Ctrl-C and SIGTERM, and goes on later', async (test) => {
    const { startRun, run, write, results, server } = await rig(test, { delayMs: () => 300 });
    write('in.jsonl', prompts(40));
    const args = ['in.jsonl', '--out', 'out.jsonl', '--concurrency', '4'];
    const signals = [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const;
    for (const [signal, expected] of signals) {
      const called = server.nextCall();
      const { process: child, ended } = startRun(args);
      await called;
      child.kill(signal);
      const { code, stdout } = await ended;
      expect(code).toBe(expected);
      expect(stdout).toContain('stopped   as asked');
      expect(stdout).toMatch(/^left {6}\d+: the same command goes on where it stopped$/m);
    }
    expect(results().length).toBeGreaterThanOrEqual(2);
    expect((await run(args)).code).toBe(0);
    expect([...server.counts.values()].every((count) => count === 1)).toBe(true);
    expect(results()).toHaveLength(40);
  });

  it('does not wait for standard input after Ctrl-C', async (test) => {
    const { startRun, server } = await rig(test);
    const called = server.nextCall();
    const running = startRun(['-', '--out', 'out.jsonl'], { input: null });
    running.process.stdin?.write('{"prompt": "a"}\n');
    await called;
    running.process.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });

  it('ends at once for a second Ctrl-C', async (test) => {
    const { startRun, write, server } = await rig(test, { delayMs: () => 60_000 });
    write('in.jsonl', prompts(4));
    const called = server.nextCall();
    const { process: child, ended } = startRun(['in.jsonl', '--out', 'out.jsonl']);
    await called;
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/^left {6}4: /m);
  });

  it('tells of a server that is not there', async (test) => {
    const { write, server, run } = await rig(test);
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
    const { write, run } = await rig(test, { delayMs: () => (calls++ === 0 ? 30_000 : 0) });
    write('in.jsonl', prompts(1));
    const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl', '--timeout', '500ms']);
    expect([code, stdout.match(/^429s.*$/m)?.[0]]).toEqual([
      0,
      '429s      0 of 2 calls; 1 call was a repeat',
    ]);
  });

  it('checks without sending for --dry-run', async (test) => {
    const { write, command } = await rig(test);
    write('in.jsonl', [{ prompt: 'a'.repeat(4_000), max_tokens: 500 }]);
    const args = ['run', 'in.jsonl', '--model', 'm', '--dry-run', '--rpm', '1'];
    const { code, stdout } = await command([...args, '--price-in', '1', '--price-out', '2']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tokens {4}about 1,0\d\d in, at most 500 out$/m);
    expect(stdout).toMatch(/^cost {6}at most about 0\.0020$/m);
    expect(stdout).toMatch(/^time {6}at least 1 min at your limits$/m);
  });
});

describe('headgate summary and headgate export', () => {
  it('read the last result of each request', async (test) => {
    let isUp = false;
    const { write, run, command, folder } = await rig(test, {
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
    const script = '"$0" "$1" export out.jsonl | head -1';
    expect(execFileSync('sh', ['-c', script, ...commandLine], { cwd: folder }).toString()).toBe(
      'B\n',
    );
    const none = await command(['summary', 'in.jsonl']);
    expect([none.code, none.stderr]).toEqual([
      2,
      'headgate: in.jsonl:1: this is no line of results\n',
    ]);
  });
});

describe('a disk that is full', () => {
  it('stops the run with a message, and it goes on when there is room', async (test) => {
    const { path, write, server } = await rig(test, {
      handle: (prompt) => ({ body: { choices: [{ message: { content: prompt.repeat(20) } }] } }),
    });
    write('in.jsonl', prompts(2_000));
    // Where no file system may be mounted, the shell bounds the size of files.
    const folder = path('disk');
    mkdirSync(folder);
    const isMounted = mount(folder);
    test.onTestFinished(() => {
      if (isMounted) execFileSync('umount', ['-l', folder]);
    });
    if (!isMounted) {
      console.log('no file system can be mounted here: a full disk is not tested');
      return;
    }
    const args = [
      'run',
      path('in.jsonl'),
      '--out',
      `${folder}/out.jsonl`,
      '--base-url',
      server.url,
    ];
    const full = await start(test, [...args, '--model', 'm']).ended;
    expect(full.code).toBe(1);
    expect(full.stdout).toContain('the disk is full');
    expect(full.stdout).toMatch(/^left {6}\d+: the same command goes on/m);
    const { length } = [...server.counts];
    expect(length).toBeLessThan(2_000);
    execFileSync('mount', ['-o', 'remount,size=64m', folder]);
    const again = await start(test, [...args, '--model', 'm']).ended;
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).toMatch(/^done {6}2,000 of 2,000, \d+ of them in earlier runs$/m);
  });
});

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
