import { expect, it } from 'vitest';
import * as advanced from '../../src/advanced.ts';
import * as headgate from '../../src/index.ts';
import * as redis from '../../src/redis/index.ts';

const classes = Object.entries({ ...headgate, ...advanced, ...redis }).filter(
  ([name]) => name.endsWith('Error') && name !== 'HeadgateError',
);

it('each error says its name, which is not that of a class that a minifier has shortened', () => {
  expect(classes.length).toBeGreaterThanOrEqual(15);
  for (const [exported, error] of classes) {
    const { prototype } = error as { prototype: Error };
    const getter = Object.getOwnPropertyDescriptor(prototype, 'name')?.get;
    expect(getter?.call({}), exported).toBe(exported);
  }
});
