import type { SourceKind } from '../source.ts';
import type { LedgerApiSettings } from './settings.ts';
import { followLedgerApi, type LedgerApiTelemetry } from './status.ts';

/** All updates are in one lane; a cursor is the offset after an update, in digits. */
export const LEDGER_API_KIND: SourceKind<LedgerApiSettings, LedgerApiTelemetry> = {
  kind: 'participant',
  resumes: true,
  placeOf: ({ offset, cursor = null }) => ({ item: offset, up_to: cursor }),
  async open(settings, context) {
    return (await import('./source.ts')).openLedgerApiSource(settings, context);
  },
  follow: followLedgerApi,
};
