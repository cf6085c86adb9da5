import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Enlisted, Roster } from '../../src/model/roster.ts';

class Member implements Enlisted<Member> {
  before: Member | undefined = undefined;
  after: Member | undefined = undefined;
}

function present(roster: Roster<Member>): Member[] {
  const members: Member[] = [];
  for (let at = roster.first; at !== undefined; at = at.after) members.push(at);
  return members;
}

describe('Roster', () => {
  it('does as an array does, in every script, and keeps no hold of those who left', () => {
    const step = fc.tuple(fc.constantFrom('add', 'add', 'remove', 'return'), fc.nat());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const roster = new Roster<Member>();
        const model: Member[] = [];
        const away: Member[] = [];
        for (const [what, number] of steps) {
          if (what === 'remove') {
            const [member] = model.splice(number % (model.length + 1), 1);
            if (member === undefined) continue;
            roster.remove(member);
            expect([member.before, member.after]).toEqual([undefined, undefined]);
            away.push(member);
          } else {
            const member = (what === 'return' ? away.pop() : undefined) ?? new Member();
            roster.add(member);
            model.push(member);
          }
          const members = present(roster);
          expect(members).toHaveLength(model.length);
          expect(members.every((member, at) => member === model[at])).toBe(true);
          expect(members.every((member, at) => member.before === model[at - 1])).toBe(true);
        }
      }),
    );
  });
});
