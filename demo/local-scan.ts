import { type Answer, type FakeServer, type FakeServerOptions, startFakeServer } from './local-server.ts';
import { createAnswers, type Holdings } from './scan-answers.ts';

/** A Scan over lines of format A, on a real socket, by the rules of its wire. */
export interface FakeScan extends Omit<FakeServer, 'server' | 'faultOf'> {
  readonly lines: string[];
  add(...lines: readonly string[]): void;
  change(holdings: Partial<Holdings>): void;
}

export interface FakeScanOptions extends Partial<Holdings>, FakeServerOptions {
  readonly lines?: readonly string[];
}

export async function startFakeScan({
  lines: first = [],
  tls,
  port,
  ...given
}: FakeScanOptions = {}): Promise<FakeScan> {
  const lines = [...first];
  let holdings: Holdings = {
    dso: 'DSO::1220dd',
    migrationId: null,
    isBackfilled: true,
    version: '0.8.3',
    acs: ['v1', 'v2'],
    snapshots: [],
    pageSizeMax: 1000,
    pageSizeInTime: Infinity,
    pageCap: Infinity,
    firstRow: 61_329_000,
    wrongBy: { summary: 0, supply: 0 },
    ...given,
  };
  const answers = createAnswers(
    () => holdings,
    () => lines,
  );
  const ok = (body: object): Answer => ({ status: 200, body });
  const unknown: Answer = { status: 404, body: { error: 'The requested resource could not be found.' } };

  const server = await startFakeServer({ ...(tls && { tls }), ...(port && { port }) }, (route, { body, query }) => {
    switch (route) {
      case 'POST /v2/updates':
        if (holdings.isBackfilled) return answers.updates(body);
        return { status: 503, body: { error: 'This scan instance has not yet replicated all data from its peers.' } };
      case 'POST /v1/state/acs':
        return holdings.acs.includes('v1') ? answers.acs(body, 'v1') : unknown;
      case 'POST /v2/state/acs':
        return holdings.acs.includes('v2') ? answers.acs(body, 'v2') : unknown;
      case 'POST /v1/holdings/summary':
        return answers.summary(body);
      case 'GET /v0/state/acs/snapshot-timestamp':
        return answers.snapshotTimestamp(query);
      case 'GET /v0/backfilling/status':
        return ok({ complete: holdings.isBackfilled });
      case 'GET /v0/dso-party-id':
        return ok({ dso_party_id: holdings.dso });
      case 'GET /v0/scans':
        return ok({ scans: [{ domainId: 'global-domain', scans: [{ publicUrl: server.url, svName: 'SV-1' }] }] });
      case 'GET /v0/migrations/last':
        return ok({ migration_id: answers.migrationId() });
      case 'GET /registry/metadata/v1/instruments/Amulet':
        return answers.instrument();
      case 'GET /version':
        return ok({ version: holdings.version, commit_ts: '2026-10-01T00:00:00Z' });
      default:
        return unknown;
    }
  });
  return {
    ...server,
    lines,
    add: (...more) => void lines.push(...more),
    change(changes) {
      holdings = { ...holdings, ...changes };
    },
  };
}
