import { expect, it } from 'vitest';
import { counted } from '../src/counted.ts';

it.each([
  [0, '0 messages'],
  [1, '1 message'],
  [2, '2 messages'],
])('%i is %s', (count, text) => {
  expect(counted(count, 'message')).toBe(text);
});
