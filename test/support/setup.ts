import fc from 'fast-check';
import { beforeEach } from 'vitest';
import { seededRandom } from '../../src/simulator/random.ts';

// Generated scripts are as long as their `maxLength` says; ten steps, the default, find little.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

// Jitter is chance: a test that passes with one draw and fails with another tells nothing.
beforeEach(() => {
  Math.random = seededRandom(1);
});
