import type { JsonOperation } from '../server/operation.ts';
import { forceSnapshot } from './force.ts';
import type { HoldingsCall } from './operation.ts';
import { dsoPartyId, lastMigration, snapshotAfter, snapshotBefore } from './snapshot-operations.ts';
import { stateV0, stateV1, stateV2 } from './state-operations.ts';
import { summaryV0, summaryV1 } from './summary-operations.ts';

/** Every operation of the area: routes, requests, the document and the names in /metrics follow from this list. */
export const HOLDINGS_OPERATIONS: readonly JsonOperation<HoldingsCall>[] = [
  summaryV0,
  summaryV1,
  stateV0,
  stateV1,
  stateV2,
  snapshotBefore,
  snapshotAfter,
  forceSnapshot,
  lastMigration,
  dsoPartyId,
];
