import { expect, it } from 'vitest';
import { LastComputed } from '../../../src/holdings/reading/last-computed.ts';

it('a computation that fails forgets itself, and none that was begun after it', async () => {
  const last = new LastComputed<string>(() => 1);
  const [old, next] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const failed = last.of('a', () => old.promise);
  last.forget('a');
  const computed = last.of('a', () => next.promise);
  old.reject(new Error('gone'));
  await expect(failed).rejects.toThrow('gone');
  const other = async (): Promise<string> => 'another time';
  expect(last.of('a', other)).toBe(computed);
  next.resolve('once');
  expect(await last.of('a', other)).toBe('once');

  await expect(last.of('b', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  expect(await last.of('b', other)).toBe('another time');
});
