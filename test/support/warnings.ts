import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Collects the warnings of each test instead of printing them.
 * @returns the warnings of the present test
 */
export function keepWarnings(): readonly string[] {
  const warnings: string[] = [];
  beforeEach(() => {
    warnings.length = 0;
    vi.spyOn(process, 'emitWarning').mockImplementation((text) => {
      warnings.push(String(text));
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return warnings;
}
