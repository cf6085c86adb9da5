#!/usr/bin/env node
/** The command `headgate`. */
import { setFlagsFromString } from 'node:v8';
import { watchOutputs } from './output-errors.ts';
import { execute } from './program.ts';

/** The heap may grow by this part, in per cent, before its garbage is collected. */
const GROWING_PERCENT = 20;

/**
 * Limits how far the heap grows beyond the memory in use: a run makes much garbage and keeps
 * little. Measured with 200,000 lines of 1 kB: 87 MiB instead of 175, at the same speed. To be
 * called before much memory is allocated.
 */
function keepHeapSmall(): void {
  // Keep the space for new objects at its initial size.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}

keepHeapSmall();
watchOutputs();
void execute(process.argv.slice(2)).then((code) => {
  process.exitCode ||= code;
});
