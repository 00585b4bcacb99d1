import { once } from 'node:events';
import { giveWay } from '../threads/give-way.ts';
import type { LogLine } from '../threads/log-line.ts';
import { serveThread } from '../threads/serve-thread.ts';
import { Seals } from '../views/write/seal.ts';
import { ViewsWriter } from '../views/write/writer.ts';
import { followSources } from './follow-sources.ts';
import { createStatusReporter } from './status-reporter.ts';
import { noTimings, timeCalls } from './timings.ts';
import type { WriterContract } from './writer-thread.ts';

/** Some million contracts; a start that takes longer says why. */
const LONG_READ_MS = 1_000;

/** The writer's thread of `serve`: its sources one after the other, and forced snapshots between batches. */
await serveThread<WriterContract>(async ({ data: settings, stop, notify }) => {
  await giveWay();
  const now = (): number => Date.now() * 1000;
  const timings = noTimings();
  timeCalls(ViewsWriter.prototype, 'commit', timings.commit);
  timeCalls(Seals.prototype, 'seal', timings.seal);
  const writer = new ViewsWriter(settings.dataDir, {
    ...settings,
    now,
    onActiveRead({ contracts, ms }) {
      const fields = { contracts, ms: Math.round(ms) };
      if (ms >= LONG_READ_MS) notify('log', { level: 'info', fields, message: 'read the ids of the active contracts' });
    },
  });
  const status = createStatusReporter(writer, timings, (status) => notify('status', status));
  return {
    async follow() {
      // After a failure nothing may be committed: the batch may contain half of an update.
      using _ = writer;
      const { decodeWorkers } = settings;
      const onLog = (line: LogLine): void => notify('log', line);
      await followSources({ writer, status, signal: stop, now, onLog, decodeWorkers, timings }, settings);
      if (!stop.aborted) await once(stop, 'abort');
      status.report({ phase: 'stopped' });
    },
    force({ maySeal }) {
      const outcome = writer.force({ maySeal });
      status.report({});
      return outcome;
    },
  };
});
