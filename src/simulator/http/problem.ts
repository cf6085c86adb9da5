/** What is wrong with a request before it reaches the provider. Each API words it in its own way. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  /** Such as `model_not_found`. */
  readonly code: string | undefined;
  /** The field that is wrong. */
  readonly param: string | undefined;
  /** The method that is allowed instead. */
  readonly allow: string | undefined;

  constructor(
    status: number,
    message: string,
    about: { code?: string; param?: string; allow?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.code = about.code;
    this.param = about.param;
    this.allow = about.allow;
  }
}

/** A field that is missing or malformed. */
export function invalidField(param: string, bound: string): Problem {
  return new Problem(400, `${param}: ${bound}`, { param });
}
