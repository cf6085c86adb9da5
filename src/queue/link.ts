/** A place in a ring of places, at first alone. Joining and leaving cost O(1). */
export class Link<Value> {
  readonly value: Value;
  before: Link<Value> = this;
  after: Link<Value> = this;

  constructor(value: Value) {
    this.value = value;
  }

  get isAlone(): boolean {
    return this.after === this;
  }

  /** Joins the ring of another link, right before it: at the end, if the ring begins with it. */
  join(next: Link<Value>): void {
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
