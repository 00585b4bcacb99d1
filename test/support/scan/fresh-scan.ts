import { afterEach, beforeEach } from 'vitest';
import { type FakeScan, type FakeScanOptions, startFakeScan } from './server.ts';

/** A Scan that is another one in each test of the calling file. Not for tests that run at the same time. */
export function freshScan(options: FakeScanOptions = {}): FakeScan {
  let current: FakeScan;
  beforeEach(async () => {
    current = await startFakeScan(options);
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
    change: (holdings) => current.change(holdings),
    fail: (path, fault, times) => current.fail(path, fault, times),
    [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
  };
}
