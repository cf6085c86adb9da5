import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

/** What became of the tests of a run. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Ends a run with one line that says how many tests passed and failed, for whoever reads only that. */
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

/** What fails outside of tests (a file that cannot be loaded, a hook, a stray rejection) has failed too. */
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
