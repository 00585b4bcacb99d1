import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { type Service, startService } from '../../src/service/start-service.ts';
import { openStream } from '../support/http/event-stream.ts';
import { operationsOf } from '../support/http/fuzz-requests.ts';
import { partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { LARGE_PROVIDER, makeLargeDirectory } from '../support/program/large-directory.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type WatchedStatements, watchStatements } from '../support/program/watched-statements.ts';

/**
 * A look-up takes a page for each level of a tree, of which no table here has more than four, and looks into four
 * tables at most.
 */
const PAGES_MAX = 16;

/** Tables that stay small, whatever is fed: a scan of one is as good as a look-up. */
const SMALL = [
  'views.db: migration', // one row for each hard upgrade of the ledger
  'views.db: setting', // one row
  'users.db: migration', // one for each form of the file
  'users.db: participant', // one row
  'users.db: identity_provider', // at most sixteen
];

/** Statements run before the first request, and never again. */
const ONCE = ['users.db: SELECT count(*) FROM user'];

const folder = temporaryDirectory();
let watched: WatchedStatements;
let service: Service;
let token = '';

/** The service in this process, so that its event loop is this one; its threads are their own. */
beforeAll(async () => {
  const data = await makeLargeDirectory(folder);
  token = (await holdfast('token', '--user', 'participant_admin', '--data', data)).stdout.trim();
  watched = watchStatements();
  const { config } = loadConfig({ options: { data, port: '0', forceSnapshots: true }, env: {} });
  service = await startService(config, { logger: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  watched?.[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const SNAPSHOT = { migration_id: 0, record_time: '2025-02-12T03:00:00Z' };
const SUMMARY = {
  ...SNAPSHOT,
  record_time_match: 'at_or_before',
  as_of_round: 10_000,
  owner_party_ids: Array.from({ length: 1000 }, (_, i) => partyOf(`o${i * 2}`)),
};
const NEW_USER = { user: { id: 'new' } };
const NEW_RIGHTS = { userId: 'new', rights: [{ kind: { CanActAs: { value: { party: 'p' } } } }] };
const moved = (from: string, to: string): object => {
  return { userId: 'new', sourceIdentityProviderId: from, targetIdentityProviderId: to };
};
const REQUESTS: readonly (readonly [request: string, body?: object])[] = [
  ['POST /v0/holdings/summary', SUMMARY],
  ['POST /v0/holdings/summary', { ...SUMMARY, as_of_round: null }],
  ['POST /v1/holdings/summary', SUMMARY],
  ['POST /v0/holdings/state', { ...SNAPSHOT, owner_party_ids: SUMMARY.owner_party_ids, page_size: 10 }],
  ['POST /v1/holdings/state', { ...SNAPSHOT, owner_party_ids: SUMMARY.owner_party_ids, page_size: 10 }],
  ['POST /v2/holdings/state', { ...SNAPSHOT, owner_party_ids: SUMMARY.owner_party_ids, page_size: 10 }],
  ['GET /v0/state/acs/snapshot-timestamp?before=2025-02-12T03:00:00.5Z&migration_id=0'],
  ['GET /v0/state/acs/snapshot-timestamp-after?after=2025-02-12T03:00:00.5Z&migration_id=0'],
  ['GET /v0/state/acs/snapshot-timestamp-after?after=2025-02-13T03:00:00Z&migration_id=0'],
  ['GET /v0/migrations/last'],
  ['GET /v0/dso-party-id'],
  ['GET /holdfast/v1/snapshots?migration_id=0&limit=1000'],
  ['GET /holdfast/v1/snapshots?migration_id=0&every=1m&limit=1000&order=asc'],
  ['GET /holdfast/v1/owners?migration_id=0&limit=1000'],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/history?migration_id=0&every=10s`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/changes?migration_id=0`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}?migration_id=0`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}?migration_id=0&at=2025-02-12T03:00:00.5Z`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/movements?migration_id=0`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/statement?migration_id=0`],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/locks?migration_id=0`],
  ['GET /holdfast/v1/movements?migration_id=0&limit=1000'],
  ['POST /holdfast/v1/balances', { migration_id: 0, at: ['2025-02-12T03:00:00.5Z'], owners: SUMMARY.owner_party_ids }],
  ['GET /holdfast/v1/top?migration_id=0&limit=1000'],
  ['GET /holdfast/v1/top?migration_id=0&by=locked'],
  ['GET /holdfast/v1/instruments?migration_id=0'],
  [`GET /holdfast/v1/owners/${partyOf('o7')}/instruments?migration_id=0`],
  ['GET /holdfast/v1/unreadable?migration_id=0'],
  ['GET /holdfast/v1/ids/1220f3a9'],
  ['POST /v0/state/acs/force'],
  ['GET /livez'],
  ['GET /readyz'],
  ['GET /status'],
  ['GET /version'],
  ['GET /metrics'],
  ['GET /v2/version'],
  ['GET /v2/authenticated-user'],
  [
    'POST /v2/idps',
    { identityProviderConfig: { identityProviderId: 'new', issuer: 'n', jwksUrl: 'https://n.example' } },
  ],
  ['GET /v2/idps'],
  ['GET /v2/idps/new'],
  [
    'PATCH /v2/idps/new',
    { identityProviderConfig: { identityProviderId: 'new', audience: 'a' }, updateMask: { paths: ['audience'] } },
  ],
  ['POST /v2/users', NEW_USER],
  ['GET /v2/users?pageSize=100'],
  ['GET /v2/users/new'],
  ['PATCH /v2/users/new', { user: { id: 'new', primaryParty: 'p' }, updateMask: { paths: ['primary_party'] } }],
  ['POST /v2/users/new/rights', NEW_RIGHTS],
  ['GET /v2/users/new/rights'],
  ['PATCH /v2/users/new/rights', NEW_RIGHTS],
  ['PATCH /v2/users/new/identity-provider-id', moved('', 'new')],
  ['PATCH /v2/users/new/identity-provider-id', moved('new', '')],
  ['DELETE /v2/users/new'],
  ['DELETE /v2/idps/new'],
];

async function ask(request: string, body?: object): Promise<number> {
  const [method, target] = request.split(' ') as [string, string];
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(service.url + target, { method, headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
  return response.status;
}

/** Resumes 300 snapshots behind, with many owners. */
async function readStream(): Promise<void> {
  const owners = [partyOf('alice'), ...SUMMARY.owner_party_ids.slice(0, 99)];
  using stream = await openStream(service.url, { owners, lastEventId: '1 2025-02-12T06:54:59Z' });
  await stream.until(() => stream.named('snapshot').length === 300);
  const first = `0 2025-02-12T01:00:00Z o0 ${partyOf('o0')}`;
  using moving = await openStream(service.url, { body: { owners, events: 'movements', last_event_id: first } });
  await moving.until(() => moving.named('movement').length === 99);
}

it('reads few pages of a large directory for any request', async () => {
  for (const statement of watched.statements) Object.assign(statement, { runs: 0, pagesMost: 0 });
  const asked: string[] = [];
  for (const [request, body] of REQUESTS) {
    expect([request, await ask(request, body)]).toEqual([request, 200]);
    asked.push(request);
  }
  await readStream();
  asked.push('GET /holdfast/v1/stream', 'POST /holdfast/v1/stream');
  const documented = ['openapi-holdings.json', 'openapi-ledger.json'].flatMap(operationsOf).map(({ method, path }) => {
    return new RegExp(`^${method} ${path.replaceAll(/\{.*?\}/g, '[^/]+')}(\\?|$)`);
  });
  expect(documented.filter((operation) => !asked.some((request) => operation.test(request)))).toEqual([]);
  expect(await ask(`DELETE /v2/idps/${LARGE_PROVIDER}`)).toBe(400);

  const run = watched.statements.filter(({ runs }) => runs > 0);
  expect(run.length).toBeGreaterThan(30);
  expect(run.filter(({ name }) => ONCE.includes(name))).toEqual([]);
  expect(run.filter(({ pagesMost }) => pagesMost > PAGES_MAX)).toEqual([]);
});

it('looks rows up by a key in every statement that the event loop has', () => {
  expect(watched.statements.length).toBeGreaterThan(30);
  const scans = watched.statements.flatMap(({ name, plan }) => {
    const steps = plan.filter((step) => !isBounded(name, step));
    return steps.length === 0 || ONCE.includes(name) ? [] : [{ name, steps }];
  });
  expect(scans).toEqual([]);
});

/** What fills a table of the statement's own is a step too, and counted separately. */
function isBounded(name: string, step: string): boolean {
  if (/^SCAN (CONSTANT ROW|\(subquery-\d+\))$/.test(step)) return true;
  const [, table] = /^SCAN (\w+)\b/.exec(step) ?? [];
  if (table !== undefined) return SMALL.includes(`${name.slice(0, name.indexOf(':'))}: ${table}`);
  return !/^SCAN|^USE TEMP B-TREE/.test(step);
}
