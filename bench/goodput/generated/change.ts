/** How the limit of a generated provider changes while a run lasts. */
import type { Factor } from './limits.ts';
import type { Scenario } from './space.ts';

/** A drift, and the others' demand, come and go so many times in a run. */
const WAVES = 3;

export function changeOf({ change, horizonMs }: Scenario): Factor {
  const third = horizonMs / 3;
  const wave = (now: number) => Math.sin((2 * Math.PI * WAVES * now) / horizonMs);
  switch (change) {
    case 'none':
      return () => 1;
    case 'halved':
      return (now) => (now >= third && now < 2 * third ? 0.5 : 1);
    case 'steps':
      return (now) => (now < third ? 1 : now < 2 * third ? 0.4 : 1.6);
    case 'drift':
      return (now) => 1 + 0.3 * wave(now);
    case 'tenants':
      return (now) => 1 - 0.2 * (1 + wave(now));
  }
}
