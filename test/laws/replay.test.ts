import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { play } from './play.ts';
const { Ticket } = await import('../../src/model/ticket.ts');
const { World } = await import('./world.ts');
const ids = new WeakMap<object, number>();
let next = 0;
const idOf = (t: object) => {
  if (!ids.has(t)) ids.set(t, next++);
  return ids.get(t);
};
for (const name of ['take', 'refuse', 'sent', 'settle', 'waited', 'returnTo'] as const) {
  const real = Ticket.prototype[name] as (...a: unknown[]) => unknown;
  (Ticket.prototype as unknown as Record<string, unknown>)[name] = function (
    this: object,
    ...args: unknown[]
  ) {
    const v = (this as { value: unknown }).value;
    console.log(
      name,
      'T' + idOf(this),
      (v as { id?: number })?.id ?? typeof v,
      args
        .map((a) =>
          a instanceof Error
            ? a.message
            : (a as object)?.constructor?.name +
              ':' +
              (['string', 'number'].includes(typeof a) ? a : ''),
        )
        .join(' '),
    );
    return real.apply(this, args);
  };
}
const enter = World.prototype.enter;
World.prototype.enter = function (req, call) {
  console.log('> enter', req.id, req.via, 'prio', req.priority, 'bytes', req.bytes);
  enter.call(this, req, call);
  console.log('< entered', req.id);
};
const spring = World.prototype.spring;
World.prototype.spring = function (name) {
  if (this.traps.get(name)?.length) console.log('spring', name);
  spring.call(this, name);
};
it('replays', async () => {
  await play(JSON.parse(readFileSync(process.env.SCRIPT ?? '', 'utf8')));
});
