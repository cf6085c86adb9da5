import {
  boundOf,
  checkOptions,
  checkValue,
  isAccepted,
  type OptionGroup,
} from '../policies/option.ts';
import type { Naming } from '../policies/policy.ts';
import { POLICIES } from '../policies/registry.ts';
import { checkKeys, checkNamed, show, wrongName, wrongType } from '../util/check.ts';
import { ENTRIES, isGroup, KEYS, type LimiterConfig, type LimiterLayer } from './limiter-config.ts';

/**
 * Checks all plain-data options of a limiter, alone and together.
 * @param where the owner of the options, for messages: `createLimiter`
 * @param extra keys that are checked elsewhere
 * @param within the start of each path in messages: `each.`
 * @throws TypeError for an unknown key, RangeError or TypeError for a wrong value. Each error names
 *   the path of the option, its bound and the value
 */
export function checkLimiterConfig(
  where: string,
  config: unknown,
  extra: readonly string[] = [],
  within = '',
): asserts config is LimiterConfig {
  checkKeys(where, config, [...KEYS, ...extra]);
  checkEntries(config, true, within);
  checkTogether(config, true, (path) => within + path);
}

/**
 * Checks the options of one of several sources: each value, and contradictions. Options that
 * another source may complete, such as a limit without its window, are checked with the merged
 * options.
 * @param nameOf the name of an option in messages about several. Default: its path.
 * @throws as `checkLimiterConfig` does
 */
export function checkLayer(
  where: string,
  config: unknown,
  nameOf: Naming = (path) => path,
): asserts config is LimiterConfig {
  checkKeys(where, config, KEYS);
  checkEntries(config, false);
  checkTogether(config, false, nameOf);
}

/**
 * Checks each value alone; values that are not plain data may be present.
 * @throws as `checkLimiterConfig` does, except for keys that are not in the table
 */
export function checkValues(where: string, config: unknown): asserts config is LimiterLayer {
  if (!isRecord(config)) {
    throw new TypeError(`the options of ${where} must be an object, got ${show(config)}`);
  }
  checkEntries(config, false);
}

function checkTogether(layer: LimiterLayer, isWhole: boolean, nameOf: Naming): void {
  for (const policy of Object.values(POLICIES)) policy.check?.(layer, isWhole, nameOf);
}

function checkEntries(
  config: unknown,
  isWhole: boolean,
  within = '',
): asserts config is LimiterLayer {
  for (const [key, entry] of ENTRIES) {
    const value = property(config, key);
    if (value === undefined) continue;
    const path = within + key;
    if (!isGroup(entry)) checkValue(path, entry, value);
    else if (entry.isNamed) checkNamedGroups(path, entry, value, isWhole);
    else checkAloneOrGroup(path, entry, value, isWhole);
  }
}

function checkAloneOrGroup(
  path: string,
  group: OptionGroup,
  value: unknown,
  isWhole: boolean,
): void {
  const { alone } = group;
  if (alone === undefined || isRecord(value)) {
    checkGroup(path, group, value, isWhole);
  } else if (!isAccepted(alone, value)) {
    const bound = boundOf(alone.kind);
    wrongType(path, `${bound}, or an object of options`, value);
  }
}

function checkNamedGroups(
  path: string,
  group: OptionGroup,
  groups: unknown,
  isWhole: boolean,
): void {
  for (const [name, values] of checkNamed(path, groups)) {
    if (name in Object.prototype) wrongName(path, name, 'every object has it');
    checkGroup(`${path}.${name}`, group, values, isWhole);
  }
}

function checkGroup(
  path: string,
  { fields, required }: OptionGroup,
  values: unknown,
  isWhole: boolean,
): void {
  checkKeys(path, values, Object.keys(fields));
  checkOptions(fields, values, isWhole ? required : [], `${path}.`);
}

function property(object: unknown, key: string): unknown {
  return isRecord(object) ? object[key] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
