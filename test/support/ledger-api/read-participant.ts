import type { LedgerApiSettings } from '../../../src/feed/network/network-settings.ts';
import type { SourceContext } from '../../../src/feed/source.ts';
import { LEDGER_API_KIND } from '../../../src/sources.ts';
import { type ReadSource, readSource } from '../feed/read-source.ts';
import type { FakeParticipant } from './server.ts';

/** A participant that is read in this process; from the beginning where nothing else is said. */
export function readParticipant(
  { url }: FakeParticipant,
  settings: Partial<LedgerApiSettings>,
  context: Partial<SourceContext> = {},
): Promise<ReadSource> {
  const none = { parties: 'all', tokenFile: null, oauth: null, ca: null, tokens: true, start: 'beginning' } as const;
  return readSource(LEDGER_API_KIND, { url, ...none, ...settings }, context);
}
