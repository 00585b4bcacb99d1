import { type NetworkTelemetry, networkStatus } from '../network/status.ts';
import { notShown } from '../not-shown.ts';
import type { SourceState, SourceStatus } from '../source.ts';
import { LANE } from './cursor.ts';

/** What the reading thread knows of its participant. */
export interface LedgerApiTelemetry extends NetworkTelemetry {
  readonly url: string;
  /** Null until it has said it. */
  readonly participant: string | null;
  /** Its last offset, when it was asked last. */
  readonly ledgerEnd: number | null;
}

/** The status of a participant's source, from its last telemetry and what the views have by now. */
export function followLedgerApi(name: string): { status(state: SourceState<LedgerApiTelemetry>): SourceStatus } {
  return {
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
  };
}
