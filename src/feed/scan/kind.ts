import { networkStatus } from '../network/status.ts';
import type { SourceKind } from '../source.ts';
import { LANE } from './cursor.ts';
import type { ScanTelemetry } from './progress.ts';
import type { ScanSettings } from './settings.ts';

/** All updates are in one lane; a cursor is the place after an update on its ledger: `4 2026-02-14T15:00:00Z`. */
export const SCAN_KIND: SourceKind<ScanSettings, ScanTelemetry> = {
  kind: 'network',
  resumes: true,
  placeOf: ({ offset, cursor = null }) => ({ item: offset, up_to: cursor }),
  async open(settings, context) {
    return (await import('./source.ts')).openScanSource(settings, context);
  },
  follow: (name) => ({
    status(state) {
      const { scan, contradiction, left } = state.telemetry ?? { scan: '', contradiction: null, left: {} };
      const figures = { contradiction, scans_left: left };
      const status = networkStatus(name, state, { lane: LANE, node: { scan }, figures });
      return contradiction === null ? status : { ...status, blocking: [contradiction, ...status.blocking] };
    },
  }),
};
