import { joinProbes } from '../model/join-probes.ts';
import { checkProbe, type Probe } from '../model/probe.ts';
import { NAME } from '../model/tap.ts';
import { checkWatched, telemetryProbe, type Watched } from '../telemetry/telemetry.ts';

type Probed = { readonly probe?: Probe };

/** Options of what is watched, without what says how. */
export type Plain<O> = Omit<O, keyof Watched>;

/** Checks and takes out what says how something is watched. What is no object is left to others. */
export function split<O extends Probed & Watched>(
  options: O,
): { readonly watched: Watched; readonly plain: Plain<O> } {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return { watched: { telemetry: false }, plain: options };
  }
  const { name, telemetry, ...plain } = options;
  const watched = {
    ...(name !== undefined && { name }),
    ...(telemetry !== undefined && { telemetry }),
  };
  checkWatched(watched);
  checkProbe(plain.probe);
  if (name === undefined) return { watched, plain };
  return { watched, plain: Object.assign(plain, { [NAME]: name }) };
}

/** The options with a probe that makes metrics and spans, beside the one that they have. */
export function withTelemetry<O extends Probed>(plain: O, watched: Watched): O {
  const own = telemetryProbe(watched);
  return own === undefined ? plain : { ...plain, probe: joinProbes(own, plain.probe) };
}
