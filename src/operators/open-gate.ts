import { Observable, type OperatorFunction } from 'rxjs';
import type { Core } from '../core/core.ts';
import { Gate } from '../gate/gate.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Surroundings } from './common-options.ts';
import { type Arrival, Intake, type RequestOptions } from './intake.ts';
import { Passage, type PassageOptions } from './passage.ts';

/** A gate that every attempt passes, as an operator: each subscription has a core of its own. */
export function attemptOperator<T>(
  kind: GateKind,
  newCore: (now: number) => Core,
  around: Surroundings,
  options: PassageOptions & RequestOptions<T>,
): OperatorFunction<Arrival<T>, Ticket<T>> {
  return (source) =>
    new Observable((out) => {
      const { clock, probe } = around;
      const gate = new Gate(kind, newCore(clock.now()), clock, probe);
      source.subscribe(new Passage(out, gate, new Intake<T>(around, options), options, true));
    });
}
