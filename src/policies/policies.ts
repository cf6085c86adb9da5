import type { GaugeValue, PolicyMetric } from '../model/gauge.ts';
import type { Backoff } from './backoff.ts';
import type { Part } from './composite.ts';
import type { Option, OptionGroup } from './option.ts';
import type { ChangeContext, Policy, PolicyContext, PolicyDefinition } from './policy.ts';
import { POLICIES, type PolicyConfig, type PolicySnapshots } from './registry.ts';

type Registry = typeof POLICIES;

/** The name of a policy in the registry, in snapshots and, with one exception, of its waits. */
export type PolicyName = keyof Registry;

/** The policies of a gate by their names; undefined: not on. */
export type Policies = {
  readonly [K in PolicyName]: Registry[K] extends PolicyDefinition<
    infer _O extends object,
    infer P,
    infer _L extends object,
    infer _G extends string
  >
    ? P
    : never;
};

/** The key of a policy's gauge. */
export type PolicyMetricKey = {
  [K in PolicyName]: Registry[K] extends PolicyDefinition<
    infer _O extends object,
    infer _P,
    infer _L extends object,
    infer G extends string
  >
    ? G
    : never;
}[PolicyName];

type Snapshots = { readonly [K in PolicyName]: SnapshotOf<Policies[K]> };

type SnapshotOf<P> = P extends { snapshot(now: number): infer S } ? S : undefined;

/** A definition with the types that are used here: it receives only a policy that it has made. */
type AnyDefinition = PolicyDefinition<PolicyConfig, Policy | undefined, PolicyConfig, string>;

const ENTRIES = Object.entries(POLICIES) as unknown as readonly (readonly [
  PolicyName,
  AnyDefinition,
])[];

/**
 * Creates the policies of a gate.
 * @param backoff the backoff, which other gates may share; undefined: there is none
 * @throws RangeError or TypeError that names a wrong option
 */
export function createPolicies(
  options: PolicyConfig,
  context: Omit<PolicyContext, 'others'>,
  backoff: Backoff | undefined,
): Policies;
/** @param isOn whether a policy may be on */
export function createPolicies(
  options: PolicyConfig,
  context: Omit<PolicyContext, 'others'>,
  backoff: Backoff | undefined,
  isOn: (definition: AnyDefinition) => boolean,
): Partial<Policies>;
export function createPolicies(
  options: PolicyConfig,
  context: Omit<PolicyContext, 'others'>,
  backoff: Backoff | undefined,
  isOn: (definition: AnyDefinition) => boolean = () => true,
): Partial<Policies> {
  const others: Record<string, unknown> = { backoff };
  const known = { ...context, others };
  // The last one first: an adaptive policy keeps below the limits of the others.
  for (const [name, definition] of ENTRIES.toReversed()) {
    if (definition.create !== undefined && isOn(definition)) {
      others[name] = definition.create(options, known);
    }
  }
  return others as Partial<Policies>;
}

/** Each policy that is on, with its definition. */
function* policiesOf(policies: Partial<Policies>): Generator<[PolicyName, AnyDefinition, Policy]> {
  for (const [name, definition] of ENTRIES) {
    const policy = policies[name];
    if (policy !== undefined) yield [name, definition, policy];
  }
}

/**
 * The policies that are asked for each attempt, without the backoff.
 *
 * Charges are given back from the last to the first. The policy that adapts the concurrency may
 * admit other requests when it learns of an answer, so it comes after the policies that those
 * requests wait for.
 */
export function attemptParts(policies: Policies, stored: Policy | undefined): Part[] {
  const isPart = ({ isHeld, create }: AnyDefinition) => isHeld !== true && create !== undefined;
  return parts(policies, stored, isPart);
}

/** All policies, where each is asked for each attempt. */
export function allParts(policies: Partial<Policies>, stored: Policy | undefined): Part[] {
  return parts(policies, stored, () => true);
}

/** @param stored limits that are kept in a store; it takes the place of the own rate limits */
function parts(
  policies: Partial<Policies>,
  stored: Policy | undefined,
  isPart: (definition: AnyDefinition) => boolean,
): Part[] {
  const own = [...policiesOf(policies)]
    .filter(([, definition]) => isPart(definition))
    .map(([, { kind }, policy]) => ({ kind, policy }));
  if (stored === undefined) return own;
  const part: Part = { kind: 'rateLimit', policy: stored };
  const place = own.findIndex(({ policy }) => policy === policies.rateLimit);
  return place < 0 ? [...own, part] : own.with(place, part);
}

/** The state of each policy that is on. */
export function snapshotsOf(policies: Policies, now: number): PolicySnapshots;
export function snapshotsOf(policies: Partial<Policies>, now: number): Partial<PolicySnapshots>;
export function snapshotsOf(policies: Partial<Policies>, now: number): Partial<PolicySnapshots> {
  const snapshots = ENTRIES.map(([name]) => [name, policies[name]?.snapshot(now)]);
  const known: Partial<Snapshots> = Object.fromEntries(snapshots);
  return known;
}

/**
 * The values of the gauges of all policies that are on. If two policies have the same gauge, the
 * first one that knows a value gives it.
 */
export function measure(policies: Partial<Policies>, now: number): Record<string, GaugeValue> {
  const values: Record<string, GaugeValue> = {};
  for (const [, definition, policy] of policiesOf(policies)) {
    for (const [key, value] of Object.entries(definition.measure?.(policy, now) ?? {})) {
      if (value !== undefined) values[key] ??= value;
    }
  }
  return values;
}

/** The gauges of all policies, by their keys. */
export const POLICY_METRICS: Readonly<Record<PolicyMetricKey, PolicyMetric>> = Object.assign(
  {},
  ...ENTRIES.map(([, { metrics }]) => metrics),
);

/** The keys of a group of options. */
export function fieldsOf(
  { options }: { readonly options: Readonly<Record<string, Option | OptionGroup>> },
  group: string,
): readonly string[] {
  const entry = options[group];
  return entry !== undefined && 'fields' in entry ? Object.keys(entry.fields) : [];
}

/** Whether all policies are in their initial state. */
export function areAtRest(policies: Policies, now: number): boolean {
  return [...policiesOf(policies)].every(
    ([, definition, policy]) => definition.isAtRest?.(policy, now) ?? true,
  );
}

/**
 * Checks changes of options of policies.
 * @returns makes the changes
 * @throws RangeError or TypeError that names a wrong option, or one that cannot change
 */
export function configurePolicies(
  policies: Partial<Policies>,
  changes: PolicyConfig,
  context: ChangeContext,
): () => void {
  const makers = ENTRIES.filter(([, definition]) => hasOption(definition, changes)).map(
    ([name, definition]) => definition.configure?.(policies[name], changes, context),
  );
  return () => {
    for (const make of makers) make?.();
  };
}

/** Whether one of a policy's options is given. */
export function hasOption(
  { options }: { readonly options: object },
  given: Readonly<Record<string, unknown>> | PolicyConfig,
): boolean {
  const values: Readonly<Record<string, unknown>> = { ...given };
  return Object.keys(options).some((key) => values[key] !== undefined);
}
