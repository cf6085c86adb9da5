import type { GrantReply, Plan } from './protocol.ts';

/** The reply to a call with older limits, without its rate grants. Slots and plan still count. */
export function withoutRates({ config: _, ...reply }: GrantReply): GrantReply {
  return { ...reply, count: 0, amounts: [] };
}

/**
 * What is left of the times in which nothing may be sent, if the reply was made as the call was
 * first made. If it was made later it is longer, which the next reply says: this one grants nothing.
 */
export function leftOf({ closed, held, throttled, broken }: GrantReply, passedMs: number) {
  const left = (time: number) => Math.max(0, time - passedMs * 1_000);
  return {
    closed: left(closed),
    held: left(held),
    throttled: left(throttled),
    broken: left(broken),
  };
}

/** Whether the plan has a learned rate that the plan before it did not have. */
export function isNewlyPaced(before: GrantReply | undefined, { plan }: GrantReply): boolean {
  const { requestsPerHour = 0, tokensPerHour = 0 } = before?.plan ?? {};
  if (plan === undefined) return false;
  return (
    (requestsPerHour === 0 && plan.requestsPerHour > 0) ||
    (tokensPerHour === 0 && plan.tokensPerHour > 0)
  );
}

/** The factors by which waits for learned requests and tokens grow when a plan follows another. */
export function waitFactors(before: Plan, plan: Plan): readonly number[] {
  return [
    factorOf(before.requestsPerHour, plan.requestsPerHour),
    factorOf(before.tokensPerHour, plan.tokensPerHour),
  ];
}

/** Without a rate before, no wait depends on it; without a rate now, there is no wait. */
function factorOf(before: number, perHour: number): number {
  if (before === 0) return 1;
  return perHour === 0 ? 0 : before / perHour;
}
