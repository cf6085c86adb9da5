import type { HeadgateError } from '../../src/index.ts';
import * as headgate from '../../src/index.ts';
import { code, tableOf } from './markdown.ts';
import type { Declaration } from './source.ts';

/** A sample of each error class, whose message the pages show. */
const SAMPLES: Readonly<Record<string, () => HeadgateError>> = {
  AttemptTimeoutError: () => new headgate.AttemptTimeoutError(600_000),
  CircuitOpenError: () => new headgate.CircuitOpenError(30_000),
  CostAboveLimitError: () => new headgate.CostAboveLimitError('tokens', 250_000, 200_000),
  DeadlineExceededError: () => new headgate.DeadlineExceededError(60_000, 'attempt'),
  EstimatorError: () => new headgate.EstimatorError('estimate', new TypeError('no text'), 3),
  LimiterClosedError: () => new headgate.LimiterClosedError(),
  ProviderUnreachableError: () =>
    new headgate.ProviderUnreachableError(600_000, new Error('connect ECONNREFUSED')),
  QueueClearedError: () => new headgate.QueueClearedError('the user went away'),
  QueueFullError: () => new headgate.QueueFullError(1_000, 'rateLimit'),
  QuotaExhaustedError: () => new headgate.QuotaExhaustedError('quota', 3_600_000, undefined),
  RateLimitExceededError: () => new headgate.RateLimitExceededError('requests', 1, 0, 1_200),
  RequestTimeoutError: () => new headgate.RequestTimeoutError(5_000),
  ResponseError: () => new headgate.ResponseError({ status: 400 }),
  RetryAfterTooLongError: () =>
    new headgate.RetryAfterTooLongError(3_600_000, 600_000, new Error('429')),
  StoreProtocolError: () => new headgate.StoreProtocolError(1, 2),
  TicketExpiredError: () => new headgate.TicketExpiredError('ok'),
  TicketInUseError: () => new headgate.TicketInUseError(),
  TooManyKeysError: () => new headgate.TooManyKeysError(10_000),
  UnknownLimitError: () => new headgate.UnknownLimitError('token', ['requests', 'tokens']),
  WaitTimeoutError: () => new headgate.WaitTimeoutError(30_000, 'rateLimit'),
};

/** The classes of errors that headgate makes, in the order of the alphabet. */
export function errorsIn(declarations: ReadonlyMap<string, Declaration>): readonly Declaration[] {
  return [...declarations.values()]
    .filter(({ base }) => base === 'HeadgateError')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The name of an error's page in `docs/reference/errors`, made of its stable code. */
function errorFileOf({ code: word = '' }: Pick<Declaration, 'code'>): string {
  return `${word.toLowerCase().replaceAll('_', '-')}.md`;
}

/** The list of all errors, with a link to the page of each. */
export function errorTable(declarations: ReadonlyMap<string, Declaration>): string {
  const rows = errorsIn(declarations).map((error) => [
    `[${code(error.name)}](errors/${errorFileOf(error)})`,
    code(error.code ?? ''),
    error.summary,
  ]);
  return tableOf(['error', '`code`', 'when'], rows);
}

/**
 * What the code says of one error: when it is thrown, its code, a message and its fields.
 * @throws Error if there is no sample of the class
 */
export function errorFacts({ name, code: word = '', summary, fields }: Declaration): string {
  const sample = SAMPLES[name];
  if (sample === undefined) throw new Error(`docs/src/errors.ts has no sample of ${name}`);
  const made = sample();
  const rows = [
    [code('code'), code(word)],
    [code('message'), `for example: ${code(made.message.replaceAll('`', "'"))}`],
    ...fields.map(({ name: field, type, summary: says }) => [
      code(field),
      says === '' ? code(type) : `${code(type)}. ${says}`,
    ]),
    ...(made.cause === undefined
      ? []
      : [[code('cause'), 'the answer or the error that led to it']]),
  ];
  return [summary, tableOf(['field', ''], rows)].join('\n\n');
}
