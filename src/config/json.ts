import { show } from '../model/check.ts';
import { checkLayer } from './check-config.ts';
import type { LimiterConfig } from './limiter-config.ts';

/**
 * The options of a limiter that a JSON text says, of a file say: an object with the same keys as the
 * options have. What another source may complete, a limit without its window say, is checked when
 * the limiter is created.
 *
 * @throws SyntaxError for what is no JSON, which quotes none of it; TypeError for a key
 *   that is no option, RangeError or TypeError for a wrong value, with the option's path
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

/** Where V8 says that a text goes wrong. */
const PLACE = /position \d+(?: \(line \d+ column \d+\))?$/;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's error quotes the text, which may be a file with secrets: only its place is told.
    const place = error instanceof Error ? PLACE.exec(error.message)?.[0] : undefined;
    const where = place === undefined ? '' : `, which is wrong at ${place}`;
    throw new SyntaxError(`the limiter's options must be a JSON text${where}`);
  }
}
