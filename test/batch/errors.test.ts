import { expect, it } from 'vitest';
import { BatchError, InputError, InterruptedError } from '../../src/batch/errors.ts';
import { OutputChangedError } from '../../src/batch/ledger/result-file.ts';

it.each([
  ['BatchError', () => new BatchError('m')],
  ['InputError', () => new InputError('in.jsonl:3', 'm')],
  ['InterruptedError', () => new InterruptedError()],
  ['OutputChangedError', () => new OutputChangedError('out.jsonl', 'cut')],
])('%s keeps its name, as minifiers shorten those of classes', (name, make) => {
  const error = make();
  const errorClass = error.constructor;
  Object.defineProperty(errorClass, 'name', { value: 'g' });
  expect(error.name).toBe(name);
  expect(String(error)).toMatch(new RegExp(`^${name}: `));
  Object.defineProperty(errorClass, 'name', { value: name });
});
