/**
 * Builds the package, runs all checks, and prints the output of those that fail:
 * `node tools/check.js`.
 */
import { checksPass } from './checks.js';

if (!(await checksPass())) process.exitCode = 1;
