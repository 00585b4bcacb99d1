import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import DatabaseFile from 'better-sqlite3';
import { Refusal } from '../../../src/refusal.ts';
import { serveThread } from '../../../src/threads/serve-thread.ts';
import type { ExampleContract } from './example-thread.ts';

const FAILURES = {
  system: () => readFileSync('/nowhere'),
  sqlite: () => new DatabaseFile('/'),
  refusal: () => {
    throw new Refusal('feed file feed does not exist', { cause: new Error('said the system') });
  },
  ours: () => {
    throw Object.assign(new RangeError('out of range'), { code: 'OUT', limits: { most: 3 }, tell: () => {} });
  },
  function: () => () => 'what cannot cross',
  text: () => {
    throw 'no error at all';
  },
};

await serveThread<ExampleContract>(({ data, notify, stop }) => {
  if (data.refuses !== undefined) throw new Refusal(data.refuses);
  let given = new ArrayBuffer();
  if (data.saysOpened) notify('said', 'opened');
  return {
    double(numbers, move) {
      const answer = numbers.map((number) => number * 2);
      given = answer.buffer;
      move([given]);
      return answer;
    },
    bytesLeft: () => given.byteLength,
    fail: (how) => FAILURES[how]() as never,
    say: (word) => notify('said', word),
    async untilStopped() {
      await once(stop, 'abort');
      return 'stopped';
    },
    spin() {
      for (;;);
    },
    exit: (code) => process.exit(code),
  };
});
