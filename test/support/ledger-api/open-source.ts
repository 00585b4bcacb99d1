import type { LedgerApiSettings } from '../../../src/feed/ledger-api/participant-settings.ts';
import { type LedgerApiSource, openLedgerApiSource } from '../../../src/feed/ledger-api/participant-source.ts';
import type { SourceContext } from '../../../src/feed/source.ts';
import { keepingLogger } from '../kafka/reading.ts';

/** The source alone, without views: begins in an empty directory where the context says nothing else. */
export function openSource(
  settings: Partial<LedgerApiSettings>,
  context: Partial<SourceContext> = {},
): LedgerApiSource {
  return openLedgerApiSource(
    { url: '', parties: 'all', tokenFile: null, oauth: null, ca: null, start: 'snapshot', ...settings },
    {
      stored: { identity: null, lanes: new Map() },
      reached: null,
      furthest: null,
      directoryId: '',
      migrationId: 0,
      logger: keepingLogger(),
      ...context,
    },
  );
}
