/**
 * `npm start`: the command `headgate run` on examples/prompts.jsonl, against a simulated provider
 * on this machine. Further arguments are passed to the command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProvider, serve } from 'headgate/simulator';

/** The path of a file of the repository. */
const file = (path: string) =>
  relative(process.cwd(), fileURLToPath(new URL(`../../${path}`, import.meta.url)));

/** The provider's minute lasts three seconds. */
const MINUTE_MS = 3_000;
const REQUESTS_A_MINUTE = 60;

const provider = createProvider({
  seed: 1,
  limits: [
    {
      unit: 'requests',
      algorithm: 'token-bucket',
      limit: REQUESTS_A_MINUTE,
      windowMs: MINUTE_MS,
    },
  ],
  latency: { meanMs: 250, sigma: 0.5, perOutputTokenMs: 1 },
  rejectLatencyMs: { meanMs: 20 },
  storms: [{ fromMs: 6_000, toMs: 7_500, status: 429, retryAfterMs: 2_000 }],
  failures: [{ fault: 'error', probability: 0.02, status: 502 }],
});
const server = await serve(provider);
console.error(
  'A simulated provider takes 20 requests a second, breaks 2 % of them with a 502, and answers 429\n' +
    'to everyone from second 6.0 to 7.5. The command knows nothing of that:\n',
);
const args = [
  'run',
  file('examples/prompts.jsonl'),
  '--out',
  file('results.jsonl'),
  '--overwrite',
  '--base-url',
  server.url,
  '--model',
  'gpt-5-mini',
  '--price-in',
  '0.25',
  '--price-out',
  '2',
  '--inspect',
  // Leave the page open after the run, for a reader.
  ...(process.stdin.isTTY && process.stderr.isTTY ? ['--hold'] : []),
  ...process.argv.slice(2),
];
const shown = args.map((arg) => (/[^\w:/.-]/.test(arg) ? JSON.stringify(arg) : arg)).join(' ');
console.error(`$ npx headgate ${shown}\n`);
const command = spawn(process.execPath, [file('dist/batch/main.cjs'), ...args], {
  stdio: 'inherit',
});
// Ignore Ctrl-C here: the command gets it too, and this process ends after the command.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => command.kill('SIGTERM'));
const [code] = await once(command, 'close');
await server.close();
process.exitCode = typeof code === 'number' ? code : 1;
