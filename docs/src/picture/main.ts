/**
 * Runs the demo in a terminal and draws what it shows: `npm run docs:picture`, from the root of the
 * repository. The terminal is that of util-linux's `script`.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { framesOf, type Output } from './frames.ts';
import { svgOf } from './svg.ts';

const FILE = join('docs', 'images', 'run.svg');
const COLUMNS = 99;
const APART_MS = 500;
/** Where the demo's own output begins. The time that the build takes is left out. */
const FIRST = 'A simulated provider';
/** The time from the command to that output. */
const START_MS = 500;
/** The line that the demo prints when it only waits for Ctrl-C. */
const HELD = 'until Ctrl-C';
const CTRL_C = '\x03';

function outputsOf(command: string): Promise<readonly Output[]> {
  const outputs: Output[] = [{ atMs: 0, text: `$ ${command}\n` }];
  let startedAt: number | undefined;
  let isHeld = false;
  const program = spawn(
    'script',
    ['-qefc', `stty cols ${COLUMNS}; ${command} --silent`, '/dev/null'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm-256color' },
    },
  );
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    const now = performance.now();
    if (isHeld) return;
    if (startedAt === undefined && !text.includes(FIRST)) return;
    startedAt ??= now - START_MS;
    outputs.push({ atMs: now - startedAt, text });
    if (!text.includes(HELD)) return;
    isHeld = true;
    program.stdin.end(CTRL_C);
  });
  return new Promise((resolve, reject) => {
    program.once('error', reject);
    program.once('close', (code) => {
      if (isHeld || code === 0) resolve(outputs);
      else reject(new Error(`the demo ended with ${code}`));
    });
  });
}

const outputs = await outputsOf('npm start');
const svg = svgOf(framesOf(outputs, COLUMNS, APART_MS), COLUMNS);
writeFileSync(FILE, svg);
console.log(FILE, `${Math.round(svg.length / 1_000)} kB`);
