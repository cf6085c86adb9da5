import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandLine, rig, start } from './command.ts';
import { jsonLines, prompts } from './files.ts';

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

  it('reads standard input by its names in the file system, and what a shell pipes', async (test) => {
    const { write, folder, server } = await rig(test);
    write('in.jsonl', prompts(5));
    const ways = [
      'cat in.jsonl | "$@" /dev/stdin',
      '"$@" <(cat in.jsonl)',
      '"$@" /dev/stdin < in.jsonl',
    ];
    for (const [index, way] of ways.entries()) {
      const args = ['run', '--out', `out-${index}.jsonl`, '--base-url', server.url, '--model', 'm'];
      const shell = ['-c', way, 'bash', ...commandLine, ...args];
      const ran = promisify(execFile)('bash', shell, { cwd: folder });
      expect((await ran).stdout, way).toMatch(/^done {6}5( of 5)?$/m);
    }
  });

  // ../command-output.test.ts tests the output, without a process for each call.
  it('exits with a code for its result, and writes errors to standard error', async (test) => {
    const { run, write, command } = await rig(test);
    write('in.jsonl', prompts(1));
    const wrong = await run(['in.jsonl', '--out', 'o', '--rpm', '-3']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toContain('--rpm must be a whole number >= 1, got "-3"');
    const { code, stdout } = await command(['--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it('drains at Ctrl-C, SIGTERM and SIGHUP, and continues later', async (test) => {
    const { startRun, run, write, results, server } = await rig(test, { delayMs: () => 300 });
    write('in.jsonl', prompts(40));
    const args = ['in.jsonl', '--out', 'out.jsonl', '--concurrency', '4'];
    const signals = [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
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

  it('exits with the code of a signal that comes while lines are checked', async (test) => {
    const { startRun, write, folder } = await rig(test);
    // Checking this many lines takes a while.
    write('in.jsonl', prompts(200_000));
    const { process: child, ended } = startRun(['in.jsonl', '--out', 'out.jsonl']);
    while (!existsSync(join(folder, 'out.jsonl.lock'))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([143, expect.stringContaining('stopped before anything')]);
  });

  it('refuses empty standard input as it does an empty file', async (test) => {
    const { run } = await rig(test);
    const { code, stderr } = await run(['-', '--out', 'out.jsonl'], { input: '' });
    expect([code, stderr]).toEqual([2, 'headgate: stdin: there are no requests in the input\n']);
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

  it('ends at once at a second Ctrl-C', async (test) => {
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
});

describe('headgate export', () => {
  it('ends silently if its reader has gone', async (test) => {
    const { write, run, folder } = await rig(test);
    // More than the buffer of a pipe.
    const long = prompts(200).map(({ id }) => ({ id, prompt: 'p'.repeat(2_000) }));
    write('in.jsonl', long);
    await run(['in.jsonl', '--out', 'out.jsonl', '--quiet', '--concurrency', '20']);
    const script = '{ "$0" "$1" export out.jsonl; echo "code $?" >&2; } 2>said | head -1; cat said';
    const shell = ['-c', script, ...commandLine];
    expect(execFileSync('sh', shell, { cwd: folder }).toString()).toBe(
      `${'P'.repeat(2_000)}\ncode 0\n`,
    );
  });
});

describe('a disk that is full', () => {
  it.runIf(existsSync('/dev/full'))(
    'for standard output is named, and for standard error loses nothing',
    async (test) => {
      const { write, folder, server } = await rig(test);
      write('in.jsonl', prompts(3));
      const ways: [way: string, code: number, stderr: string][] = [
        [
          '"$@" run --out 0.jsonl > /dev/full',
          1,
          'headgate: cannot write standard output: the disk is full\n',
        ],
        ['"$@" run --out 1.jsonl 2> /dev/full', 0, ''],
        ['"$@" run --rpm x 2> /dev/full', 2, ''],
        [
          '"$@" export 0.jsonl > /dev/full',
          1,
          'headgate: cannot write standard output: the disk is full\n',
        ],
      ];
      for (const [way, expected, says] of ways) {
        const script = way.replace(' run', ` run in.jsonl --model m --base-url ${server.url}`);
        const shell = spawn('bash', ['-c', script, 'bash', ...commandLine], { cwd: folder });
        let stderr = '';
        shell.stderr.on('data', (text) => {
          stderr += text;
        });
        const [code] = await once(shell, 'close');
        expect([code, stderr], way).toEqual([expected, says]);
      }
    },
  );

  /** Lines whose results exceed the disk. */
  const LINES = 800;

  it('stops the run with a message, and the run continues when there is space', async (test) => {
    const { path, write, server } = await rig(test, {
      handle: (prompt) => ({ body: { choices: [{ message: { content: prompt.repeat(20) } }] } }),
    });
    write('in.jsonl', prompts(LINES));
    // If no file system can be mounted, the shell bounds the size of files.
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
    const [, done] = full.stdout.match(/^done {6}(\d+) of 800$/m) ?? [];
    const [, left] = full.stdout.match(/^left {6}(\d+): the same command goes on/m) ?? [];
    // Answers that were lost are left, too.
    expect(Number(done) + Number(left)).toBe(LINES);
    const whole = readFileSync(`${folder}/out.jsonl`, 'utf8').split('\n').length - 1;
    expect(whole).toBe(Number(done));
    expect(Number(left)).toBeGreaterThan(0);
    execFileSync('mount', ['-o', 'remount,size=64m', folder]);
    const again = await start(test, [...args, '--model', 'm']).ended;
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).toMatch(/^done {6}800 of 800, \d+ of them in earlier runs$/m);
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
