/** A node of a circular linked list, at first alone. Joining and leaving cost O(1). */
export class RingLink<Value> {
  readonly value: Value;
  before: RingLink<Value> = this;
  after: RingLink<Value> = this;

  constructor(value: Value) {
    this.value = value;
  }

  get isAlone(): boolean {
    return this.after === this;
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
