import { closeSync, openSync } from 'node:fs';
import { machineError } from '../../../src/machine-errors.ts';
import { startExample } from './example-thread.ts';

/** Started with few files that it may open: prints what each start of a thread came to, with one file more free each time. */
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
const found: string[] = [];
for (let free = 0; free < 12; free++) {
  if (free > 0) closeSync(taken.pop()!);
  const thread = startExample();
  const answer = thread.call('bytesLeft', null);
  found.push(await answer.then(String, (error: Error) => machineError(error) ?? `${error.message}`));
  if (found.at(-1) !== '0') continue;
  await thread[Symbol.asyncDispose]();
}
console.log(JSON.stringify(found));
