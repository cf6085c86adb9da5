/** What `paced` needs of the AI SDK's types. Each version of the SDK has its own, which fit these. */

/** The parameters of one call of a model. */
export interface CallParams {
  readonly prompt: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** What a call says to providers, and to functions of options. */
  readonly providerOptions?:
    | Readonly<Record<string, Readonly<Record<string, unknown>>>>
    | undefined;
}

/** A model, as a middleware gets it. `P`: its parameters; `G`, `S`: its whole and streamed results. */
export interface PacedModel<P, G, S> {
  readonly provider: string;
  readonly modelId: string;
  doGenerate(params: P): PromiseLike<G>;
  doStream(params: P): PromiseLike<S>;
}

/** One call of a model that a middleware wraps. */
export interface PacedCall<P, G, S> {
  readonly params: P;
  readonly model: PacedModel<P, G, S>;
}

/** A streamed result: its parts, and the headers of the response. */
export interface StreamResult<Part = unknown> {
  readonly stream: ReadableStream<Part>;
  readonly response?: unknown;
}
