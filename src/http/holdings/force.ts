import { z } from 'zod';
import { formatTime } from '../../ledger/time.ts';
import { mayPass } from '../../machine-errors.ts';
import type { ForceOutcome } from '../../views/write/force.ts';
import { HttpFault } from '../server/http-fault.ts';
import { snapshot } from './answer-fields.ts';
import { type HoldingsCall, holdingsOperation } from './operation.ts';

export const forceSnapshot = holdingsOperation({
  method: 'POST',
  path: '/v0/state/acs/force',
  operationId: 'forceAcsSnapshotNow',
  summary:
    'Seals a snapshot at the last applied record time, where that is allowed; the newest one where nothing came since.',
  programsOnly: 'snapshots are not forced from web pages',
  answer: z.strictObject(snapshot).meta({ id: 'ForcedSnapshot' }),
  faults: {
    400: 'Forced snapshots are disabled, or nothing has been applied; or only what is of the first time of the grid.',
    403: 'The request comes from a web page (it has an Origin header).',
    429: 'A new snapshot was forced less than 10 s ago.',
    503: 'The disk is full or the database is locked; nothing was sealed.',
  },
  handle: (_, { force }) => force(),
});

/** The writer's answer to a request for a snapshot now (docs/rules.md, rule 12). */
export type ForceSnapshot = (options: { readonly maySeal: boolean }) => Promise<ForceOutcome>;

/** A snapshot costs a row for every owner that changed; requested in a loop they would fill the disk. */
const SEAL_INTERVAL_MS_MIN = 10_000;

export function createForce({
  force,
  clockMs,
}: {
  /** Null: forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  readonly clockMs: () => number;
}): HoldingsCall['force'] {
  let sealedAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time: of two requests at once only the first may seal. */
  const forceInTurn = (force: ForceSnapshot): Promise<ForceOutcome> => {
    const turn = last.then(async () => {
      const outcome = await force({ maySeal: clockMs() - sealedAtMs >= SEAL_INTERVAL_MS_MIN });
      if (outcome.kind === 'snapshot' && outcome.sealed) sealedAtMs = clockMs();
      return outcome;
    });
    last = turn.catch(() => {});
    return turn;
  };

  return async () => {
    if (force === null) throw new HttpFault(400, 'Forced ACS snapshots are disabled.');
    const outcome = await forceInTurn(force).catch(unavailable);
    switch (outcome.kind) {
      case 'snapshot':
        return JSON.stringify({
          record_time: formatTime(outcome.recordTime),
          migration_id: outcome.migrationId,
        });
      case 'too_soon': {
        const seconds = Math.ceil((sealedAtMs + SEAL_INTERVAL_MS_MIN - clockMs()) / 1000);
        throw new HttpFault(429, `a new snapshot is forced at most once in ${SEAL_INTERVAL_MS_MIN / 1000} s`, {
          'Retry-After': String(Math.max(1, seconds)),
        });
      }
      case 'nothing_applied':
        throw new HttpFault(400, 'There is no snapshot yet, and no update off the grid that one could be forced at.');
    }
  };
}

/** The disk or the database is unavailable for now; nothing was sealed. */
function unavailable(error: Error): never {
  if (!mayPass(error, 'running')) throw error;
  throw new HttpFault(503, `no snapshot can be written now (${error.message}); try again later`);
}
