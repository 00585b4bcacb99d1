import { type NetworkTelemetry, networkStatus } from '../network/status.ts';
import type { SourceState, SourceStatus } from '../source.ts';

/** The one lane: the updates of a network are in one order. */
export const LANE = 'updates';

/** A lane without messages: its cursor is what the supply of the seed differs by, so that it is said after a restart too. */
export const SUPPLY = 'supply';

/** What the reading thread knows of its Scans. */
export interface ScanTelemetry extends NetworkTelemetry {
  /** The Scan that answered last, or is asked. */
  readonly scan: string;
  /** How many updates of a Scan were not believed, by its address. */
  readonly disagreements: Readonly<Record<string, number>>;
}

/** The status of a network's source, from its last telemetry and what the views have by now. */
export function followScan(name: string): { status(state: SourceState<ScanTelemetry>): SourceStatus } {
  return {
    status(state) {
      const { scan, disagreements } = state.telemetry ?? { scan: '', disagreements: {} };
      const status = networkStatus(name, state, { lane: LANE, node: { scan }, figures: { disagreements } });
      return { ...status, disagreements };
    },
  };
}
