import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

/** The number of passed and failed tests of a run. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A reporter that ends a run with one line: how many tests passed and failed. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly unknown[],
    _reason: TestRunEndReason,
  ): void {
    console.log(closingLine(tallyOf(modules, errors.length)));
  }
}

export function closingLine({ passed, failed, skipped }: Tally): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}

/**
 * Counts failures outside of tests too: files that cannot be loaded, hooks, unhandled rejections.
 */
function tallyOf(modules: readonly TestModule[], strayErrors: number): Tally {
  const tally = { passed: 0, failed: strayErrors, skipped: 0 };
  for (const module of modules) {
    tally.failed += module.errors().length;
    for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') tally.passed += 1;
      else if (state === 'failed') tally.failed += 1;
      else tally.skipped += 1;
    }
  }
  return tally;
}
