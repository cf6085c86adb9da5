import { checkNumber } from '../model/check.ts';
import type { Link } from './link.ts';

/** The least cost: free requests without end must not keep the turn for ever. */
const LEAST_COST = 1;

/** Someone who takes turns. */
export interface Contender<Self> {
  /** Its place in the round. */
  readonly turn: Link<Self>;
  /** What it may spend yet. */
  deficit: number;
}

/**
 * Deficit round robin (Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin",
 * 1996): contenders take turns, and in each may spend a quantum and what the turn before left over.
 * A newcomer's turn is the last of the round; who leaves forfeits what it had left.
 *
 * The quantum is the largest cost met since all had left, or `minQuantum` if that is more. With
 * less a contender would have to save up for several rounds, and to find who may spend would cost
 * more than O(1); with more the requests of one contender go in longer bursts.
 */
export class DeficitRound<Member extends Contender<Member>> {
  private readonly minQuantum: number;
  private readonly costOf: (member: Member) => number;
  private _quantum: number;
  /** Whose turn it is; the ring goes on with those whose turns come after. */
  private turn: Link<Member> | undefined = undefined;
  /** Whether it has got the quantum of this turn. */
  private begun = false;
  private _spender: Member | undefined = undefined;
  private cost = 0;

  /** @param costOf the cost of what the member would spend on next: finite, >= 0 */
  constructor(minQuantum: number, costOf: (member: Member) => number) {
    this.minQuantum = checkNumber('minQuantum', minQuantum, 0);
    this.costOf = costOf;
    this._quantum = minQuantum;
  }

  /** What a turn is worth now. */
  get quantum(): number {
    return this._quantum;
  }

  join(member: Member): void {
    if (this.turn === undefined) this.turn = member.turn;
    else member.turn.join(this.turn);
  }

  /** A spender has spent or withdrawn before it leaves. */
  leave(member: Member): void {
    const { turn } = member;
    member.deficit = 0;
    if (turn === this.turn) this.pass(turn);
    if (turn === this.turn) {
      this.turn = undefined;
      this._quantum = this.minQuantum;
    }
    turn.leave();
  }

  /** Who is to spend next. The answer stays until that one spends or withdraws. */
  spender(): Member | undefined {
    while (this._spender === undefined && this.turn !== undefined) this.ask(this.turn);
    return this._spender;
  }

  /** The spender has spent what it wanted to. */
  spend(): void {
    if (this._spender === undefined) return;
    this._spender.deficit -= this.cost;
    this._spender = undefined;
  }

  /** What the member wanted to spend on has gone; its turn has not. */
  withdraw(member: Member): void {
    if (this._spender === member) this._spender = undefined;
  }

  private ask(turn: Link<Member>): void {
    const member = turn.value;
    const cost = Math.max(LEAST_COST, checkNumber('cost', this.costOf(member), 0));
    this._quantum = Math.max(this._quantum, cost);
    if (!this.begun) member.deficit += this._quantum;
    this.begun = true;
    if (cost > member.deficit) {
      this.pass(turn);
      return;
    }
    this._spender = member;
    this.cost = cost;
  }

  private pass(turn: Link<Member>): void {
    this.turn = turn.after;
    this.begun = false;
  }
}
