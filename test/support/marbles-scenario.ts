import fc from 'fast-check';

/** The end of a stream. */
export type End = 'complete' | 'error' | 'never';

/** The number of frames before each value; 0: in the same turn. */
export interface Timeline {
  readonly gaps: readonly number[];
  readonly endGap: number;
  readonly end: End;
}

const MISTAKES = ['throws', 'broken', 'undefined', 'number'] as const;

/** The stream that project returns for a value. */
export type InnerPlan =
  | { readonly kind: 'cold' | 'hot'; readonly timeline: Timeline }
  | { readonly kind: 'array' | 'iterable'; readonly length: number }
  | { readonly kind: (typeof MISTAKES)[number] };

/** An action inside the n-th call of a callback. */
export interface Interruption {
  readonly inside: 'next' | 'project' | 'finalize';
  readonly nth: number;
  /** Values are pushed only into a hot source. */
  readonly does: 'unsubscribe' | 'push' | 'complete' | 'error';
}

/** A script for an operator that maps values to inner streams. */
export interface Scenario {
  readonly hot: boolean;
  readonly concurrency: number;
  readonly source: Timeline;
  /** The plan of the n-th value has the index n modulo the length. */
  readonly inners: readonly InnerPlan[];
  /** Unsubscribe at this frame. */
  readonly unsubscribeAt: number | undefined;
  readonly interruptions: readonly Interruption[];
}

const gap = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4 }));

function timeline(maxLength: number, ends: readonly End[]): fc.Arbitrary<Timeline> {
  return fc.record({
    gaps: fc.array(gap, { maxLength }),
    endGap: gap,
    end: fc.constantFrom(...ends),
  });
}

function stream(ends: readonly End[]): fc.Arbitrary<InnerPlan> {
  return fc.record({
    kind: fc.constantFrom('cold' as const, 'cold' as const, 'hot' as const),
    timeline: timeline(3, ends),
  });
}

const list: fc.Arbitrary<InnerPlan> = fc.record({
  kind: fc.constantFrom('array' as const, 'iterable' as const),
  length: fc.integer({ min: 0, max: 3 }),
});

const mistake: fc.Arbitrary<InnerPlan> = fc.record({
  kind: fc.constantFrom(...MISTAKES),
});

const inner: fc.Arbitrary<InnerPlan> = fc.oneof(
  { weight: 20, arbitrary: stream(['complete', 'complete', 'complete', 'complete', 'never']) },
  { weight: 6, arbitrary: list },
  { weight: 1, arbitrary: stream(['error']) },
  { weight: 1, arbitrary: mistake },
);

function interruptions(
  does: readonly Interruption['does'][],
): fc.Arbitrary<readonly Interruption[]> {
  if (does.length === 0) return fc.constant([]);
  const one = fc.record({
    inside: fc.constantFrom('next' as const, 'project' as const, 'finalize' as const),
    nth: fc.integer({ min: 0, max: 8 }),
    does: fc.constantFrom(...does),
  });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }) },
  );
}

/** Scripts with the given actions inside callbacks. */
export function scenario(...does: readonly Interruption['does'][]): fc.Arbitrary<Scenario> {
  return fc.record({
    hot: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 4 }),
    source: timeline(10, ['complete', 'complete', 'complete', 'error', 'never']),
    inners: fc.array(inner, { minLength: 1, maxLength: 8 }),
    unsubscribeAt: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 20 }) },
    ),
    interruptions: interruptions(does),
  });
}

/** Scripts with dozens of values, most of them at once. @param most the highest concurrency */
export function crowded(
  most: number,
  ...does: readonly Interruption['does'][]
): fc.Arbitrary<Scenario> {
  const crowd = fc.record({
    concurrency: fc.integer({ min: 1, max: most }),
    gaps: fc.array(fc.oneof({ weight: 15, arbitrary: fc.constant(0) }, gap), {
      minLength: 20,
      maxLength: 60,
    }),
  });
  return fc.tuple(scenario(...does), crowd).map(([script, { concurrency, gaps }]) => ({
    ...script,
    concurrency,
    source: { ...script.source, gaps },
  }));
}
