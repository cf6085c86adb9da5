import { configure } from '../limiter/configure.ts';
import { runtimeOf } from '../limiter/limiter-runtime.ts';
import { limitChange } from '../limiter/set-limits.ts';
import type { RateLimit } from '../policies/rate-limit/rate-limit.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { checkInteger, checkKeys, checkNumber, wrongType } from '../util/check.ts';
import { shownName } from './format.ts';
import type { Controls, Setting } from './wire.ts';

/** The reason for `pause`, which events report. */
const REASON = 'paused in the inspector';

/** The streams that the inspector has paused: a stream has no `pause` of its own. */
const streams = new WeakSet<RequestGate>();

export function isPaused(gate: RequestGate): boolean {
  return runtimeOf(gate)?.lifecycle.isPaused ?? streams.has(gate);
}

/** Stops sending. Requests in flight continue. */
function pause(gate: RequestGate): void {
  const runtime = runtimeOf(gate);
  if (runtime !== undefined) {
    runtime.lifecycle.pause(REASON);
    return;
  }
  streams.add(gate);
  gate.gate.pause();
}

function resume(gate: RequestGate): void {
  const runtime = runtimeOf(gate);
  if (runtime !== undefined) {
    runtime.lifecycle.resume();
    return;
  }
  streams.delete(gate);
  gate.gate.resume();
}

const ACTIONS = ['configure', 'pause', 'resume', 'drain'] as const;
export type Action = (typeof ACTIONS)[number];

/** A command of the page. */
export interface Command {
  readonly gate: number;
  readonly action: Action;
  readonly settings: Readonly<Record<string, number>>;
}

const LIMIT = 'limits.';

/** @throws TypeError or RangeError that names the wrong field */
export function readCommand(body: unknown): Command {
  checkKeys('a command', body, ['gate', 'action', 'settings']);
  const { gate, action, settings = {} } = body as Partial<Record<keyof Command, unknown>>;
  checkInteger('gate', gate, 1);
  if (!ACTIONS.includes(action as Action)) {
    wrongType('action', `one of ${ACTIONS.join(', ')}`, action);
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    wrongType('settings', 'an object of numbers', settings);
  }
  for (const [name, value] of Object.entries(settings)) checkNumber(`settings.${name}`, value, 0);
  return { gate: gate as number, action: action as Action, settings: { ...settings } };
}

/** The settings of a gate that can be changed, with their present values. */
export function controlsOf(gate: RequestGate): Controls {
  const runtime = runtimeOf(gate);
  const limits = gate.policies.rateLimit?.limits;
  const settings: Setting[] = [
    {
      name: 'concurrency',
      label: 'Requests in flight, at most',
      value: gate.slots.maxLimit,
    },
    { name: 'maxBytes', label: 'Bytes in flight, at most', value: gate.bytes.maxBytes },
    ...(limits?.rules ?? []).map(({ name, limit }) => ({
      name: `${LIMIT}${name}`,
      label: `Limit of ${shownName(name, 80)}`,
      value: limit,
    })),
  ];
  const isOpen = runtime !== undefined && runtime.lifecycle.state !== 'closed';
  return {
    settings: settings.filter(({ value }) => Number.isFinite(value)),
    canPause: runtime === undefined || isOpen,
    isPaused: isPaused(gate),
    canDrain: isOpen && runtime.lifecycle.state !== 'draining',
  };
}

/** Carries out a command. @throws RangeError or TypeError that names the wrong value */
export function control(gate: RequestGate, { action, settings }: Command): void {
  switch (action) {
    case 'configure':
      change(gate, settings);
      return;
    case 'drain': {
      const runtime = runtimeOf(gate);
      if (runtime === undefined) throw new TypeError('a stream drains when its source ends');
      runtime.lifecycle.close('send');
      return;
    }
    case 'pause':
      pause(gate);
      return;
    case 'resume':
      resume(gate);
  }
}

function change(gate: RequestGate, settings: Command['settings']): void {
  const { concurrency, maxBytes, ...named } = settings;
  if (concurrency !== undefined) checkInteger('settings.concurrency', concurrency, 1);
  if (maxBytes !== undefined) checkInteger('settings.maxBytes', maxBytes, 0);
  const limits = limitsOf(gate, named);
  const runtime = runtimeOf(gate);
  if (runtime !== undefined) {
    const changes = {
      ...(concurrency !== undefined && { concurrency }),
      ...(maxBytes !== undefined && { maxBytes }),
      ...(Object.keys(limits).length > 0 && { limits }),
    };
    configure(changes, runtime);
    return;
  }
  gate.fleet?.check(limits);
  if (Object.keys(limits).length > 0) limitChange(gate, limits)();
  if (maxBytes !== undefined) gate.bytes.maxBytes = maxBytes;
  if (concurrency !== undefined) gate.setConcurrency(concurrency);
  gate.fleet?.configured();
  gate.changed();
}

/** The named limits after the change. */
function limitsOf(
  { policies }: RequestGate,
  named: Readonly<Record<string, number>>,
): Readonly<Record<string, RateLimit>> {
  const limits: Record<string, RateLimit> = {};
  for (const [setting, limit] of Object.entries(named)) {
    const name = setting.startsWith(LIMIT) ? setting.slice(LIMIT.length) : '';
    const rule = policies.rateLimit?.limits.rules.find((each) => each.name === name);
    if (rule === undefined) {
      throw new TypeError(`\`settings.${setting}\` is no setting of this gate`);
    }
    checkNumber(`settings.${setting}`, limit, 1);
    const { windowMs, algorithm, charge, maxCost } = rule;
    const burst = maxCost !== rule.limit && { burst: maxCost };
    limits[name] = { limit, windowMs, algorithm, charge, ...burst };
  }
  return limits;
}
