import { defineConfig } from 'vitest/config';

const KAFKA_TESTS = 'test/feed/kafka*.test.ts';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    globalSetup: './test/support/built.ts',
    // Imports of src/ in a test mean what is built of it, so that the threads it starts are JavaScript as well.
    alias: [{ find: /^((?:\.\.?\/)+)src\/(.*)\.ts$/, replacement: '$1dist/$2.js' }],
    projects: [
      { extends: true, test: { name: 'main', include: ['test/**/*.test.ts'], exclude: [KAFKA_TESTS] } },
      // Started only where one of these files runs: a real broker, shared by them.
      {
        extends: true,
        test: { name: 'kafka', include: [KAFKA_TESTS], globalSetup: './test/support/kafka-shared-broker.ts' },
      },
    ],
  },
});
