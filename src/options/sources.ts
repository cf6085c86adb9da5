import { type AdaptiveLayer, type Strategy, strategyOf } from '../policies/adaptive.ts';
import { SHORTHANDS } from '../policies/rate-limit/definition.ts';
import { show } from '../util/check.ts';
import { checkLayer, checkValues } from './check-config.ts';
import { ENTRIES, isGroup, type LimiterConfig, type LimiterLayer } from './limiter-config.ts';

/**
 * The options of a limiter from JSON text, such as a file: an object with the same keys as the
 * options. Options that another source may complete, such as a limit without its window, are
 * checked when the limiter is created.
 *
 * @throws SyntaxError for text that is no JSON, without quoting it; TypeError for an unknown key,
 *   RangeError or TypeError for a wrong value, with the option's path
 * @example
 * const limiter = createLimiter(limiterOptionsFromJSON(readFileSync('limiter.json', 'utf8')));
 */
export function limiterOptionsFromJSON(text: string): LimiterConfig {
  if (typeof text !== 'string') {
    throw new TypeError(`the limiter's options must be a JSON text, got ${show(text)}`);
  }
  const config = parseText(text);
  checkLayer('limiterOptionsFromJSON', config);
  return config;
}

/** The position in V8's messages about wrong JSON. */
const PLACE = /position \d+(?: \(line \d+ column \d+\))?$/;

function parseText(text: string): unknown {
  try {
    // Programs of Windows put a byte order mark before a file's text.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    // The parser's error quotes the text, which may contain secrets: only the position is printed.
    const place = error instanceof Error ? PLACE.exec(error.message)?.[0] : undefined;
    const where = place === undefined ? '' : `, which is wrong at ${place}`;
    throw new SyntaxError(`the limiter's options must be a JSON text${where}`);
  }
}

/** The merged options, with the other values of the strongest source. */
export type MergedOptions<S extends readonly LimiterLayer[]> = Omit<S[0], keyof LimiterConfig> &
  LimiterConfig;

/**
 * Merges the options of several sources, strongest first: each overrides all that follow it. An
 * undefined option counts as not given. No source is changed.
 *
 * Groups (`backoff`, `pace`, `circuitBreaker`, `adaptive`, and each of `limits`) are merged option
 * by option. `circuitBreaker: true` and `adaptive: 'failures'` turn a group on; its options then
 * come from the weaker sources. Four settings drop options of weaker sources:
 * - `adaptive: false` and `circuitBreaker: false` drop all of their options
 * - an `adaptive.strategy` drops the options of other strategies
 * - an `algorithm` of a limit that is no `token-bucket` drops its `burst`
 * - `requestsPerMinute` drops `limits.requests`, and the reverse; the same holds for
 *   `tokensPerMinute` and `limits.tokens`
 *
 * Keys that are no plain data (`clock`, `classify` …) are passed on unchanged.
 *
 * @throws RangeError or TypeError for a wrong value in one of the sources; the merged options are
 *   checked when the limiter is created
 * @example
 * createLimiter(mergeLimiterOptions(args, limiterOptionsFromJSON(text), limiterOptionsFromEnv()));
 */
export function mergeLimiterOptions<S extends readonly LimiterLayer[]>(
  ...sources: S
): MergedOptions<S>;
export function mergeLimiterOptions(...sources: readonly LimiterLayer[]): LimiterLayer {
  for (const source of sources) checkValues('mergeLimiterOptions', source);
  return sources.reduceRight<LimiterLayer>((weak, strong) => merge(strong, weak), {});
}

function merge(strong: LimiterLayer, weaker: LimiterLayer): LimiterLayer {
  const weak = withoutReplaced(weaker, strong);
  return given({
    ...over(strong, weak),
    ...mergeGroups(strong, weak),
    limits: mergeLimits(strong.limits, weak.limits),
    adaptive: mergeAdaptive(strong.adaptive, weak.adaptive),
  });
}

/** Merges groups of options; `true` stands for a group with its defaults. */
function mergeGroups(strong: LimiterLayer, weak: LimiterLayer): LimiterLayer {
  const merged: Record<string, unknown> = {};
  const [first, second]: readonly Record<string, unknown>[] = [{ ...strong }, { ...weak }];
  for (const [key, entry] of ENTRIES) {
    if (isGroup(entry)) merged[key] = mergeGroup(first?.[key], second?.[key]);
  }
  return merged;
}

function mergeGroup(strong: unknown, weak: unknown): unknown {
  if (strong === true) return weak || true;
  if (weak === true) return strong ?? true;
  return typeof strong === 'object' && typeof weak === 'object'
    ? over(strong ?? undefined, weak ?? undefined)
    : (strong ?? weak);
}

/** The weak options without the limits that the stronger source gives in the other form. */
function withoutReplaced(weak: LimiterLayer, strong: LimiterLayer): LimiterLayer {
  let kept = weak;
  for (const [short, name] of SHORTHANDS) {
    if (Object.hasOwn(strong.limits ?? {}, name)) kept = without(kept, [short]);
    if (strong[short] === undefined || kept.limits === undefined) continue;
    kept = { ...kept, limits: without(kept.limits, [name]) };
  }
  return kept;
}

function mergeLimits(
  strong: LimiterLayer['limits'] = {},
  weak: LimiterLayer['limits'] = {},
): LimiterLayer['limits'] {
  const names = Object.keys({ ...weak, ...strong });
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => {
      const [first, second] = [ownOf(strong, name), ownOf(weak, name)];
      const isBurstKept = (first.algorithm ?? 'token-bucket') === 'token-bucket';
      const kept = isBurstKept ? second : without(second, ['burst']);
      return [name, { ...kept, ...given(first) }];
    }),
  );
}

/** The own value of a name, even if every object inherits a property of that name. */
function ownOf<V extends object>(named: Readonly<Record<string, V>>, name: string): Partial<V> {
  return (Object.hasOwn(named, name) ? named[name] : undefined) ?? {};
}

function mergeAdaptive(
  strong: LimiterLayer['adaptive'],
  weak: LimiterLayer['adaptive'],
): LimiterLayer['adaptive'] {
  if (strong === undefined || weak === undefined) return strong ?? weak;
  if (strong === false) return false;
  if (weak === false) return strong;
  const [first, second] = [layerOf(strong), layerOf(weak)];
  const chosen = first.strategy;
  if (chosen === undefined) return over(first, second);
  const dropped = Object.keys(second).filter((key) => (strategyOf(key) ?? chosen) !== chosen);
  const kept = without(given(second), ['strategy', ...dropped]);
  const isAlone = typeof strong !== 'object' && Object.keys(kept).length === 0;
  return isAlone ? strong : over(first, kept);
}

function layerOf(adaptive: Strategy | AdaptiveLayer): AdaptiveLayer {
  return typeof adaptive === 'string' ? { strategy: adaptive } : adaptive;
}

/** The first given value of each key. */
function over<T extends object>(strong: T | undefined, weak: T | undefined): T | undefined {
  if (strong === undefined || weak === undefined) return strong ?? weak;
  return { ...weak, ...given(strong) };
}

/** The values without undefined ones. */
function given<T extends object>(values: T): T {
  return without(
    values,
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [key] : [])),
  );
}

/** The values without some keys, which may be missing. */
function without<T extends object>(values: T, keys: readonly string[]): T {
  const kept = { ...values };
  for (const key of keys) Reflect.deleteProperty(kept, key);
  return kept;
}
