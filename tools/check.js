/** Builds the package, runs all checks, and prints the output of those that fail: `node tools/check.js`. */
import { startChecks } from './checks.js';

const { passed } = startChecks();
if (!(await passed)) process.exitCode = 1;
