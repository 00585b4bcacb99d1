import { once } from 'node:events';
import { giveWay, serveThread } from '../threads/serve-thread.ts';
import { Seals } from '../views/write/seals.ts';
import { ViewsWriter } from '../views/write/writer.ts';
import { followSources } from './follow-sources.ts';
import { createStatusReporter, noTimings, timeCalls } from './ingest-status.ts';
import type { WriterContract } from './writer-thread.ts';

/** Some million contracts; a start that takes longer says why. */
const LONG_READ_MS = 1_000;

/** The writer's thread of `serve`: its sources one after the other, and forced snapshots between batches. */
await serveThread<WriterContract>(async ({ data: settings, stop: signal, logger, notify }) => {
  await giveWay();
  const timings = noTimings();
  timeCalls(ViewsWriter.prototype, 'commit', timings.commit);
  timeCalls(Seals.prototype, 'seal', timings.seal);
  const writer = new ViewsWriter(settings.dataDir, {
    ...settings,
    now: () => Date.now() * 1000,
    onActiveRead({ contracts, ms }) {
      if (ms >= LONG_READ_MS) logger.info({ contracts, ms: Math.round(ms) }, 'read the ids of the active contracts');
    },
  });
  const status = createStatusReporter(writer, timings, (status) => notify('status', status));
  return {
    async follow() {
      // After a failure nothing may be committed: the batch may contain half of an update.
      using _ = writer;
      await followSources({ settings, writer, status, signal, logger, timings });
      if (!signal.aborted) await once(signal, 'abort');
      status.report({ phase: 'stopped' });
    },
    force({ maySeal }) {
      const outcome = writer.force({ maySeal });
      status.report({});
      return outcome;
    },
  };
});
