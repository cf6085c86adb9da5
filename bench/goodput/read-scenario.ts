/** Reads a scenario from a JSON file. Errors name the wrong key. */
import { readFileSync } from 'node:fs';
import { createProvider } from 'headgate/simulator';
import { complete, type Scenario, type ScenarioOptions } from './scenario.ts';

/** A scenario that cannot be run. The message says why. */
export class ScenarioError extends Error {}

const KEYS: Readonly<Record<keyof ScenarioOptions, true>> = {
  name: true,
  about: true,
  seconds: true,
  workers: true,
  backlog: true,
  provider: true,
  others: true,
  prompts: true,
};

/** @throws ScenarioError that names the file, the key, its bound and the value */
export function readScenario(path: string): Scenario {
  return parseScenario(readText(path), path);
}

/**
 * @param from the name of the text in errors
 * @throws ScenarioError
 */
export function parseScenario(text: string, from: string): Scenario {
  try {
    const options: unknown = JSON.parse(text);
    check(options);
    return complete(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ScenarioError(`${from}: ${reason}`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ScenarioError(`${path}: cannot be read`);
  }
}

function check(options: unknown): asserts options is ScenarioOptions {
  const { name, about, seconds, workers, backlog, provider, others, prompts } = members(
    'scenario',
    options,
    Object.keys(KEYS),
  );
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) {
    throw new TypeError(
      `\`name\` must be a word of letters, digits and hyphens, got ${show(name)}`,
    );
  }
  if (typeof about !== 'string') throw new TypeError(`\`about\` must be text, got ${show(about)}`);
  for (const [key, value] of Object.entries({ seconds, workers, backlog })) {
    if (value !== undefined) number(key, value, 1, Number.MAX_SAFE_INTEGER, true);
  }
  checkProvider(provider);
  if (others !== undefined) checkOthers(others, provider);
  if (prompts !== undefined) checkPrompts(prompts);
}

/** Constructs a provider, whose checks find wrong options. */
function checkProvider(provider: unknown): void {
  const allowed = [
    'limits',
    'countRejected',
    'concurrency',
    'storms',
    'retryAfter',
    'headers',
    'latency',
    'rejectLatencyMs',
    'capacity',
  ];
  const options = members('provider', provider, allowed);
  if (options.limits === undefined && options.concurrency === undefined) {
    throw new TypeError('`provider` must have `limits` or `concurrency`: nothing limits it');
  }
  createProvider(options);
}

function checkOthers(others: unknown, provider: unknown): void {
  const { least, most, everyMs } = members('others', others, ['least', 'most', 'everyMs']);
  number('others.least', least, 0, 1);
  number('others.most', most, Number(least), 1);
  number('others.everyMs', everyMs, 1, Number.MAX_SAFE_INTEGER);
  if (Object.hasOwn(Object(provider), 'capacity')) {
    throw new TypeError('`others` and `provider.capacity` exclude each other');
  }
}

function checkPrompts(prompts: unknown): void {
  const keys = ['inputTokens', 'outputTokens', 'sigma'];
  const { inputTokens, outputTokens, sigma } = members('prompts', prompts, keys);
  number('prompts.inputTokens', inputTokens, 1, Number.MAX_SAFE_INTEGER);
  number('prompts.outputTokens', outputTokens, 1, Number.MAX_SAFE_INTEGER);
  number('prompts.sigma', sigma, 0, 10);
}

function members(name: string, value: unknown, keys: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`\`${name}\` must be an object, got ${show(value)}`);
  }
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw new TypeError(
      `\`${name}\` has no \`${unknown}\`; it may have ${keys.map((key) => `\`${key}\``).join(', ')}`,
    );
  }
  return { ...value };
}

function number(name: string, value: unknown, least: number, most: number, isWhole = false): void {
  const isRight =
    typeof value === 'number' && value >= least && value <= most && Number.isFinite(value);
  if (isRight && (!isWhole || Number.isInteger(value))) return;
  const kind = isWhole ? 'an integer' : 'a number';
  const bound = most === Number.MAX_SAFE_INTEGER ? `>= ${least}` : `from ${least} to ${most}`;
  throw new RangeError(`\`${name}\` must be ${kind} ${bound}, got ${show(value)}`);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
