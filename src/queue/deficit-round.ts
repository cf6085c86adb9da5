import { checkNumber } from '../util/check.ts';

/** A node of a circular linked list, at first alone. Joining and leaving cost O(1). */
export class RingLink<Value> {
  readonly value: Value;
  before: RingLink<Value> = this;
  after: RingLink<Value> = this;

  constructor(value: Value) {
    this.value = value;
  }

  /**
   * Joins the ring of another node, right before it: at the end, if the ring begins with that node.
   */
  join(next: RingLink<Value>): void {
    this.before = next.before;
    this.after = next;
    next.before.after = this;
    next.before = this;
  }

  leave(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

/** The least cost, so that an endless row of free requests cannot keep the turn for ever. */
const LEAST_COST = 1;

/** A contender that takes turns. */
export interface Contender<Self> {
  /** Its place in the round. */
  readonly turn: RingLink<Self>;
  /** The cost that it may still spend in its turn. */
  deficit: number;
}

/**
 * Deficit round robin (Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin",
 * 1996): contenders take turns, and may spend in each a quantum and the remainder of their last
 * turn. A newcomer's turn is the last of the round; a contender that leaves forfeits its remainder.
 *
 * The quantum is the largest cost since the round was last empty. With a smaller quantum a contender
 * would have to save for several rounds, and to find the next spender would cost more than O(1).
 * With a larger one each contender's requests go in longer bursts.
 */
export class DeficitRound<Member extends Contender<Member>> {
  private readonly costOf: (member: Member) => number;
  private quantum = 0;
  /** The contender whose turn it is; the ring continues in the order of turns. */
  private turn: RingLink<Member> | undefined = undefined;
  /** Whether it received the quantum of this turn. */
  private begun = false;
  private _spender: Member | undefined = undefined;
  private cost = 0;

  /** @param costOf the cost of a member's next request: finite, >= 0 */
  constructor(costOf: (member: Member) => number) {
    this.costOf = costOf;
  }

  join(member: Member): void {
    if (this.turn === undefined) this.turn = member.turn;
    else member.turn.join(this.turn);
  }

  /** Removes a member. */
  leave(member: Member): void {
    const { turn } = member;
    this.askAgain();
    member.deficit = 0;
    if (turn === this.turn) this.pass(turn);
    if (turn === this.turn) {
      this.turn = undefined;
      this.quantum = 0;
    }
    turn.leave();
  }

  /** The member that may spend next. The answer stays until it spends, or `askAgain` is called. */
  spender(): Member | undefined {
    while (this._spender === undefined && this.turn !== undefined) this.ask(this.turn);
    return this._spender;
  }

  /** Books the expense of the spender. */
  spend(): void {
    if (this._spender === undefined) return;
    this._spender.deficit -= this.cost;
    this._spender = undefined;
  }

  /** The cost of a member's next request has changed. The turn continues. */
  askAgain(): void {
    this._spender = undefined;
  }

  private ask(turn: RingLink<Member>): void {
    const member = turn.value;
    const cost = Math.max(LEAST_COST, checkNumber('cost', this.costOf(member), 0));
    this.quantum = Math.max(this.quantum, cost);
    if (!this.begun) member.deficit += this.quantum;
    this.begun = true;
    if (cost > member.deficit) {
      this.pass(turn);
      return;
    }
    this._spender = member;
    this.cost = cost;
  }

  private pass(turn: RingLink<Member>): void {
    this.turn = turn.after;
    this.begun = false;
  }
}
