import { show } from '../model/check.ts';
import { checkLayer } from './check-config.ts';
import type { LimiterConfig } from './limiter-config.ts';

/**
 * The options of a limiter that a JSON text says, of a file say: an object with the same keys as the
 * options have. What another source may complete, a limit without its window say, is checked when
 * the limiter is created.
 *
 * @throws SyntaxError for what is no JSON, with the parser's error as `cause`; TypeError for a key
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`the limiter's options could not be read as JSON: ${why}`, { cause });
  }
}
