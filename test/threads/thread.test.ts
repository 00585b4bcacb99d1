import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import { forwardingLogger } from '../../src/threads/serve-thread.ts';
import type { LogLine } from '../../src/threads/thread.ts';
import { startExample } from '../support/threads/example-thread.ts';

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );

describe('a request', () => {
  it('is answered, and buffers go there and back without a copy', async () => {
    await using thread = startExample();
    const asked = new Float64Array([1, 2.5]);
    const answer = await thread.call('double', asked, [asked.buffer]);
    expect([...answer]).toEqual([2, 5]);
    expect([asked.byteLength, await thread.call('bytesLeft', null)]).toEqual([0, 0]);
  });

  it('does not wait for one before it that takes long', async () => {
    await using thread = startExample();
    const long = thread.call('untilStopped', null);
    expect(await thread.call('bytesLeft', null)).toBe(0);
    thread.stop();
    expect(await long).toBe('stopped');
  });
});

it('a thread is not terminated while it opens: a native module that is being loaded would abort the process', async () => {
  const heard: string[] = [];
  const thread = startExample({ saysOpened: true }, { said: (word) => heard.push(word) });
  await thread.terminate();
  expect(heard).toEqual(['opened']);
  expect(await thread.ended).toBeNull();
});

describe('a notice', () => {
  it('arrives before the answer to a later request', async () => {
    const heard: string[] = [];
    await using thread = startExample({}, { said: (word) => heard.push(word) });
    for (const word of ['a', 'b', 'c']) thread.notify('say', word);
    await thread.call('bytesLeft', null);
    expect(heard).toEqual(['a', 'b', 'c']);
  });

  it('that the thread throws at ends it, and says with what', async () => {
    await using thread = startExample();
    thread.notify('fail', 'system');
    expect(await thread.ended).toMatchObject({ code: 'ENOENT', path: '/nowhere' });
  });
});

describe('an error', () => {
  it.each([
    ['system', { name: 'Error', code: 'ENOENT', path: '/nowhere', syscall: 'open' }],
    ['sqlite', { name: 'SqliteError', code: 'SQLITE_CANTOPEN', message: 'unable to open database file' }],
    ['ours', { name: 'RangeError', code: 'OUT', limits: { most: 3 }, message: 'out of range' }],
    ['text', { name: 'Error', message: 'no error at all' }],
    ['function', { name: 'DataCloneError' }],
  ] as const)('crosses with its code, its name and what else can: %s', async (how, facts) => {
    await using thread = startExample();
    const error = await failureOf(thread.call('fail', how));
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject(facts);
    expect(error.stack).toMatch(/example-worker|serve-thread/);
  });

  it('of a class of ours is of that class again, cause included', async () => {
    await using thread = startExample();
    const error = await failureOf(thread.call('fail', 'refusal'));
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ name: 'Refusal', message: 'feed file feed does not exist' });
    expect(error.cause).toMatchObject({ message: 'said the system' });
  });
});

describe('a thread that ends', () => {
  it('by itself leaves no request waiting, nor a later one', async () => {
    await using thread = startExample();
    const waiting = [thread.call('untilStopped', null), thread.call('exit', 7), thread.call('bytesLeft', null)];
    for (const call of waiting) await expect(call).rejects.toThrow('the example thread ended by itself (code 7)');
    expect(await thread.ended).toMatchObject({ message: 'the example thread ended by itself (code 7)' });
    await expect(thread.call('bytesLeft', null)).rejects.toThrow('ended by itself');
  });

  it('because it could not begin says why to all who wait', async () => {
    await using thread = startExample({ refuses: 'not here' });
    const [call, ended] = await Promise.all([failureOf(thread.call('bytesLeft', null)), thread.ended]);
    for (const error of [call, ended]) {
      expect(error).toBeInstanceOf(Refusal);
      expect(error).toMatchObject({ message: 'not here' });
    }
  });

  it('on request answers pending requests, and then none', async () => {
    const thread = startExample();
    const underWay = thread.call('untilStopped', null);
    await thread[Symbol.asyncDispose]();
    expect([await underWay, await thread.ended, thread.hasEnded]).toEqual(['stopped', null, true]);
    await expect(thread.call('bytesLeft', null)).rejects.toMatchObject({ message: 'the example thread was stopped' });
  });

  it('is not waited for longer than its time of grace', async () => {
    const thread = startExample({}, { stopGraceMs: 100 });
    const spinning = failureOf(thread.call('spin', null));
    await thread[Symbol.asyncDispose]();
    expect(await spinning).toMatchObject({ message: 'the example thread was stopped' });
    // It did not die: what was not answered is no error of its own.
    expect(await thread.ended).toBeNull();
  });
});

it('a line whose error holds what no thread can be sent arrives with what the error says', () => {
  const lines: LogLine[] = [];
  const log = forwardingLogger((line) => lines.push(structuredClone(line)));
  const answered = new Error('answers 502', { cause: new Response('no') });
  log.warn({ err: new Error('gives no token', { cause: answered }), retryInMs: 5 }, 'cannot read');
  expect(lines).toMatchObject([
    { level: 'warn', fields: { retryInMs: 5, err: { message: 'gives no token', cause: { message: 'answers 502' } } } },
  ]);
});
