import { defineConfig } from 'vitest/config';
import { BUILT, BUILT_FOR_WEB } from './test/support/program/built.ts';
import { COMPILE_CACHE } from './test/support/program/soak.ts';
import { SpreadOut } from './test/support/program/test-order.ts';

/** Tests with a real broker. */
const KAFKA_TESTS = [
  'test/feed/kafka/broker/*.test.ts',
  'test/scale/{decoder-*,partition-lane,flink-round}.test.ts',
  'test/documented-commands.test.ts',
];
/** Tests that leave nothing behind in their process: a worker runs one file after the other. */
const UNIT_TESTS = [
  'test/{cli,config,decode,deploy,holdings,ledger,scripts,users,views}/**/*.test.ts',
  'test/http/{,hostile/,users/}*.test.ts',
  'test/client/amounts.test.ts',
  // Tests of streams have a process each.
  'test/http/insight/!(stream*).test.ts',
  'test/feed/{file,ledger-api,scan}/*.test.ts',
];

// Every other test file is a process that loads the same packages.
process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What a test waits for comes at once on a machine that is idle, and late on one that is not.
    expect: { poll: { timeout: 60_000 } },
    // Twice the processors of a small machine: many tests wait, and leave their processor to another.
    maxWorkers: 4,
    sequence: { sequencer: SpreadOut },
    globalSetup: './test/support/program/built.ts',
    projects: [
      { extends: true, test: { name: 'unit', alias: [BUILT], include: UNIT_TESTS, isolate: false } },
      {
        extends: true,
        test: {
          name: 'main',
          alias: [BUILT],
          include: ['test/**/*.test.ts'],
          exclude: [...KAFKA_TESTS, ...UNIT_TESTS],
        },
      },
      // The dashboard is built only where one of these files runs.
      {
        extends: true,
        test: { name: 'web', alias: [BUILT_FOR_WEB], include: ['web/test/*.test.ts'], globalSetup: './web/build.ts' },
      },
      // Started only where one of these files runs: a real broker, shared by them.
      {
        extends: true,
        test: {
          name: 'kafka',
          alias: [BUILT],
          include: KAFKA_TESTS,
          globalSetup: './test/support/kafka/shared-broker.ts',
        },
      },
    ],
  },
});
