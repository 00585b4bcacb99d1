import { Refusal } from '../../../src/refusal.ts';
import type { ThreadContract } from '../../../src/threads/thread.ts';
import { startThread, type Thread, threadFile } from '../../../src/threads/thread.ts';

/** A thread for the tests of threads. */
export interface ExampleContract extends ThreadContract {
  readonly data: { readonly refuses?: string; readonly saysOpened?: boolean };
  readonly requests: {
    readonly double: (numbers: Float64Array<ArrayBuffer>) => Float64Array<ArrayBuffer>;
    /** The bytes that a buffer has left, which was given away with the last answer. */
    readonly bytesLeft: (nothing: null) => number;
    readonly fail: (how: 'system' | 'sqlite' | 'refusal' | 'ours' | 'function' | 'text') => never;
    readonly say: (word: string) => void;
    readonly untilStopped: (nothing: null) => string;
    readonly spin: (nothing: null) => never;
    readonly exit: (code: number) => never;
  };
  readonly notices: { readonly said: string };
}

export function startExample(
  data: ExampleContract['data'] = {},
  { said = () => {}, stopGraceMs }: { said?: (word: string) => void; stopGraceMs?: number } = {},
): Thread<ExampleContract> {
  return startThread<ExampleContract>(threadFile('example-worker', import.meta.url), {
    name: 'example',
    data,
    on: { said },
    errors: [Refusal],
    ...(stopGraceMs === undefined ? {} : { stopGraceMs }),
  });
}
