import { LEND } from './script/lend.ts';
import { RATES } from './script/rates.ts';
import { REPLY } from './script/reply.ts';
import { STATE } from './script/state.ts';
import { TIME } from './script/time.ts';
import { TOLD } from './script/told.ts';

/**
 * The shared store as a script: what `FleetModel` does, statement by statement. It keeps its state in
 * one string, the workers in one hash, two sorted sets of when they expire, and, for the worker that
 * learns, a list of reports and what was learned so far.
 *
 * KEYS: state, workers, leases, active, reports, learned. ARGV: a list as JSON: the request, and as
 * texts, which are not read, its configuration, its plan, what it has learned, and its report. Numbers
 * in answers are printed without exponents, since cjson keeps 14 digits only.
 *
 * One text of six steps: each sees the local names of those before it.
 */
export const SCRIPT = [STATE, TIME, TOLD, LEND, RATES, REPLY].join('');
