import { show } from '../util/check.ts';
import { checkLayer } from './check-config.ts';
import type { LimiterConfig } from './limiter-config.ts';

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
  const config = parse(text);
  checkLayer('limiterOptionsFromJSON', config);
  return config;
}

/** The position in V8's messages about wrong JSON. */
const PLACE = /position \d+(?: \(line \d+ column \d+\))?$/;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's error quotes the text, which may contain secrets: only the position is printed.
    const place = error instanceof Error ? PLACE.exec(error.message)?.[0] : undefined;
    const where = place === undefined ? '' : `, which is wrong at ${place}`;
    throw new SyntaxError(`the limiter's options must be a JSON text${where}`);
  }
}
