import { boundOf, checkValue, isAccepted, type OptionGroup } from '../core/option.ts';
import type { Naming } from '../core/policy-definition.ts';
import { POLICIES } from '../core/registry.ts';
import { checkKeys, show } from '../model/check.ts';
import type { LimiterConfig, LimiterLayer } from './limiter-config.ts';
import { ENTRIES, isGroup, KEYS } from './rows.ts';

/**
 * Checks the options of a limiter that are plain data, all of them and together.
 * @param where whose options they are, for messages: `createLimiter`
 * @param extra keys that are checked elsewhere
 * @throws TypeError for a key that nothing reads, RangeError or TypeError for a wrong value; each
 *   names the path of the option, the bound and the value
 */
export function checkLimiterConfig(
  where: string,
  config: unknown,
  extra: readonly string[] = [],
): asserts config is LimiterConfig {
  checkKeys(where, config, [...KEYS, ...extra]);
  checkEntries(config, true);
  checkTogether(config, true, (path) => path);
}

/**
 * Checks what one of several sources says: each value, and what contradicts itself. What another
 * source may complete or outweigh, a limit without its window say, is left to the check of the whole.
 * @param nameOf how an option is called in messages about several. Default: by its path.
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
 * Checks each value alone; what is no plain data may be there too.
 * @throws as `checkLimiterConfig` does, but for keys beside those of the table
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

function checkEntries(config: unknown, isWhole: boolean): asserts config is LimiterLayer {
  for (const [key, entry] of ENTRIES) {
    const value = property(config, key);
    if (value === undefined) continue;
    if (!isGroup(entry)) checkValue(key, entry, value);
    else if (entry.isNamed) checkNamedGroups(key, entry, value, isWhole);
    else checkAloneOrGroup(key, entry, value, isWhole);
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
    throw new TypeError(
      `\`${path}\` must be ${bound}, or an object of options, got ${show(value)}`,
    );
  }
}

function checkNamedGroups(
  path: string,
  group: OptionGroup,
  groups: unknown,
  isWhole: boolean,
): void {
  if (!isRecord(groups)) {
    throw new TypeError(`\`${path}\` must be an object of named ${path}, got ${show(groups)}`);
  }
  const names = Object.keys(groups);
  if (names.length === 0) throw new TypeError(`\`${path}\` must name at least 1 limit, got none`);
  for (const name of names) {
    if (name in Object.prototype) {
      throw new TypeError(`\`${path}\` cannot have the name ${show(name)}: every object has it`);
    }
    checkGroup(`${path}.${name}`, group, groups[name], isWhole);
  }
}

function checkGroup(path: string, group: OptionGroup, values: unknown, isWhole: boolean): void {
  checkKeys(path, values, Object.keys(group.fields));
  for (const [key, option] of Object.entries(group.fields)) {
    const value = property(values, key);
    const isRequired = isWhole && group.required?.includes(key) === true;
    if (value !== undefined || isRequired) checkValue(`${path}.${key}`, option, value);
  }
}

function property(object: unknown, key: string): unknown {
  return isRecord(object) ? object[key] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
