import { afterEach, beforeEach } from 'vitest';
import { type FakeParticipant, type FakeParticipantOptions, startFakeParticipant } from './server.ts';

/** A participant that is another one in each test of the calling file. Not for tests that run at the same time. */
export function freshParticipant(options: FakeParticipantOptions = {}): FakeParticipant {
  let current: FakeParticipant;
  beforeEach(async () => {
    current = await startFakeParticipant(options);
  });
  afterEach(() => current[Symbol.asyncDispose]());
  return {
    get url() {
      return current.url;
    },
    get asked() {
      return current.asked;
    },
    get lines() {
      return current.lines;
    },
    add: (...lines) => current.add(...lines),
    change: (participant) => current.change(participant),
    fail: (path, fault, times) => current.fail(path, fault, times),
    failStreams: (...faults) => current.failStreams(...faults),
    bufferedBytes: () => current.bufferedBytes(),
    [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
  };
}
