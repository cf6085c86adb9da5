import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Linked, LinkedList } from '../../src/util/linked-list.ts';

class Member implements Linked<Member> {
  before: Member | undefined = undefined;
  after: Member | undefined = undefined;
}

function present(list: LinkedList<Member>): Member[] {
  const members: Member[] = [];
  for (let at = list.first; at !== undefined; at = at.after) members.push(at);
  return members;
}

describe('LinkedList', () => {
  it('does as an array does, in every script, and keeps no hold of those who left', () => {
    const step = fc.tuple(fc.constantFrom('add', 'add', 'remove', 'return'), fc.nat());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = new LinkedList<Member>();
        const model: Member[] = [];
        const away: Member[] = [];
        for (const [what, number] of steps) {
          if (what === 'remove') {
            const [member] = model.splice(number % (model.length + 1), 1);
            if (member === undefined) continue;
            list.remove(member);
            expect([member.before, member.after]).toEqual([undefined, undefined]);
            away.push(member);
          } else {
            const member = (what === 'return' ? away.pop() : undefined) ?? new Member();
            list.add(member);
            model.push(member);
          }
          const members = present(list);
          expect(members).toHaveLength(model.length);
          expect(members.every((member, at) => member === model[at])).toBe(true);
          expect(members.every((member, at) => member.before === model[at - 1])).toBe(true);
        }
      }),
    );
  });
});
