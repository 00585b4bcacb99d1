import { once } from 'node:events';
import { giveWay, serveThread } from '../threads/serve-thread.ts';
import { Seals } from '../views/write/seals.ts';
import { ViewsWriter } from '../views/write/writer.ts';
import { followSources } from './follow-sources.ts';
import { createStatusReporter, type Timed, timeCalls } from './ingest-status.ts';
import type { WriterContract } from './writer-thread.ts';

/** Some million contracts; a start that takes longer says why. */
const LONG_READ_MS = 1_000;

/** The writer's thread of `serve`: its sources one after the other, and forced snapshots between batches. */
await serveThread<WriterContract>(async ({ data: settings, stop: signal, logger, notify }) => {
  await giveWay();
  const timed = (what: Timed['what']) => (seconds: number) => notify('timed', { what, seconds });
  timeCalls(ViewsWriter.prototype, 'commit', timed('commit'));
  timeCalls(Seals.prototype, 'seal', timed('seal'));
  const writer = new ViewsWriter(settings.dataDir, {
    ...settings,
    now: () => Date.now() * 1000,
    onActiveRead({ contracts, ms }) {
      if (ms >= LONG_READ_MS) logger.info({ contracts, ms: Math.round(ms) }, 'read the ids of the active contracts');
    },
  });
  const status = createStatusReporter(writer, (status) => notify('status', status));
  return {
    async follow() {
      // After a failure nothing may be committed: the batch may contain half of an update.
      using _ = writer;
      await followSources({ settings, writer, status, signal, logger, onDecoded: timed('decode') });
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
