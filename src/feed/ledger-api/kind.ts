import { networkStatus } from '../network/status.ts';
import { notShown } from '../not-shown.ts';
import type { SourceKind } from '../source.ts';
import { LANE } from './cursor.ts';
import type { LedgerApiTelemetry } from './progress.ts';
import type { LedgerApiSettings } from './settings.ts';

/** All updates are in one lane; a cursor is the offset after an update, in digits. */
export const LEDGER_API_KIND: SourceKind<LedgerApiSettings, LedgerApiTelemetry> = {
  kind: 'participant',
  resumes: true,
  placeOf: ({ offset, cursor = null }) => ({ item: offset, up_to: cursor }),
  async open(settings, context) {
    return (await import('./source.ts')).openLedgerApiSource(settings, context);
  },
  follow: (name) => ({
    status({ telemetry, lanes, mayLeaveGap, refused }) {
      const { url, participant, ledgerEnd } = telemetry ?? { url: '', participant: null, ledgerEnd: null };
      const unproven = mayLeaveGap && telemetry !== null;
      const shown = unproven
        ? { ...telemetry, stopped: telemetry.stopped ?? notShown('the participant'), caughtUpAt: null }
        : telemetry;
      return networkStatus(
        name,
        { telemetry: shown, lanes, refused },
        { lane: LANE, node: { url, participant }, figures: { ledger_end: ledgerEnd } },
      );
    },
  }),
};
