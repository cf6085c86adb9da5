import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { it } from 'vitest';
import { play, type Script } from './play.ts';
import { scriptOf } from './setup.ts';

const script = fc.oneof(scriptOf('limiter'), scriptOf('limiter'), scriptOf('throttle'));
const runs = Number(process.env.LAWS_RUNS ?? 1000);
const kindOf = (error: unknown) =>
  String(error)
    .split('\n')[0]
    ?.replace(/\d+(\.\d+)?/g, 'N')
    .slice(0, 150) ?? '';

it('collects', async () => {
  const kinds = new Map<string, { n: number; first: Script }>();
  const ignore = (process.env.IGNORE ?? '').split('|').filter(Boolean);
  const began = Date.now();
  for (const each of fc.sample(script, {
    numRuns: runs,
    seed: Number(process.env.LAWS_SEED ?? 1),
  })) {
    try {
      await play(each);
    } catch (error) {
      const kind = kindOf(error);
      if (ignore.some((i) => kind.includes(i))) continue;
      const known = kinds.get(kind);
      if (known) known.n += 1;
      else kinds.set(kind, { n: 1, first: each });
    }
  }
  console.log(`${runs} in ${Date.now() - began} ms`);
  for (const [kind, { n }] of kinds) console.log(n, kind);
  let left = Number(process.env.SHRINK ?? 2);
  for (const kind of [...kinds.keys()]) {
    if (left-- <= 0) break;
    const property = fc.asyncProperty(script, async (each) => {
      try {
        await play(each);
      } catch (error) {
        if (kindOf(error) === kind) throw error;
      }
    });
    const found = await fc.check(property, {
      numRuns: runs,
      seed: Number(process.env.LAWS_SEED ?? 1),
      interruptAfterTimeLimit: 40000,
    });
    console.log('==', kind, '\n', String((found.errorInstance as Error)?.message).slice(0, 800));
    const [got] = found.counterexample ?? [];
    if (got) {
      const { setup, steps } = got;
      writeFileSync(
        `/tmp/laws-helper/${kind.replace(/[^a-zA-Z]+/g, '-').slice(0, 60)}.json`,
        JSON.stringify(got),
      );
      const boring = { hasProbe: false, hasListener: false, isHeard: true, limits: '[]' } as Record<
        string,
        unknown
      >;
      console.log(
        JSON.stringify(
          Object.fromEntries(
            Object.entries(setup).filter(
              ([k, v]) => v !== undefined && boring[k] !== v && JSON.stringify(v) !== '[]',
            ),
          ),
        ),
      );
      for (const { action, trap, after, pauseMs } of steps)
        console.log(
          ' ',
          trap ? `[${trap}]` : '',
          action.do,
          action.a,
          action.b,
          action.c,
          '->',
          after,
          typeof after === 'number' ? pauseMs : '',
        );
    }
  }
}, 600_000);
