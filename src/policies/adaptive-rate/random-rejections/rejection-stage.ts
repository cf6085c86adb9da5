/** Shares of rejections that differ by more than this factor have different causes. */
const SAME = 2.5;
/**
 * If less than this part of the pace was sent, rejections kept the provider closed for long. Those
 * that come by chance are single.
 */
const PACED = 0.75;
/** Rejections are single if a closure has no more than this number on average. */
const SINGLE = 1.5;
/** An earlier rate was tried if more was sent by this factor. */
const MORE = 1.1;

/** Some stops in a row, at about the same rate. */
export interface RejectionStage {
  /** The mean pace of the rejected attempts, per ms. */
  readonly perMs: number;
  readonly ms: number;
  /** Accepted and rejected attempts. */
  readonly total: number;
  readonly rejected: number;
  /** How often attempts were rejected after accepted ones. */
  readonly stops: number;
}

/** Rejections that seem to be by chance. */
export interface ChanceShare {
  /** The last attempts, which were sent more slowly than before. */
  readonly stage: RejectionStage;
  readonly share: number;
  /** The rate before, per ms. */
  readonly ratePerMs: number;
}

/** The stage that consists of these ones. */
export function joined(stages: readonly RejectionStage[]): RejectionStage {
  const sum = { perMs: 0, ms: 0, total: 0, rejected: 0, stops: 0 };
  for (const { perMs, ms, total, rejected, stops } of stages) {
    sum.perMs += perMs / stages.length;
    sum.ms += ms;
    sum.total += total;
    sum.rejected += rejected;
    sum.stops += stops;
  }
  return sum;
}

export function shareOf({ rejected, total }: RejectionStage): number {
  return rejected / total;
}

export function acceptedPerMs({ total, rejected, ms }: RejectionStage): number {
  return (total - rejected) / ms;
}

function sentPerMs({ total, ms }: RejectionStage): number {
  return total / ms;
}

/** Whether about as much was sent as the pace allowed. */
export function isPaced(stage: RejectionStage): boolean {
  return sentPerMs(stage) > PACED * stage.perMs;
}

/** Whether rejections are single on average, as those by chance are. */
export function isSingle({ rejected, stops }: RejectionStage): boolean {
  return rejected <= SINGLE * stops;
}

/** Whether the provider was not closed for long, but for waits that single rejections named. */
export function isBrief(stage: RejectionStage): boolean {
  return isPaced(stage) || isSingle(stage);
}

/** Whether pace and accepted rate are both below this part of those of the first stage. */
export function isBelow(part: number, stage: RejectionStage, first: RejectionStage): boolean {
  return stage.perMs < part * first.perMs && acceptedPerMs(stage) < part * acceptedPerMs(first);
}

/** Whether about the same share was rejected. */
export function isSame(stage: RejectionStage, first: RejectionStage): boolean {
  const factor = shareOf(stage) / shareOf(first);
  return 1 / SAME < factor && factor < SAME;
}

/** Whether more was sent than before, but not as much more accepted. */
export function isNoMore(stage: RejectionStage, before: RejectionStage): boolean {
  const sent = sentPerMs(stage) / sentPerMs(before);
  return sent > MORE && acceptedPerMs(stage) < Math.sqrt(sent) * acceptedPerMs(before);
}
