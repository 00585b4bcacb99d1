import { readFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { type FakeScan, type FakeScanOptions, startFakeScan } from '../../../demo/local-scan.ts';
import type { Fault } from '../../../demo/local-server.ts';
import type { ReadSource } from '../../support/feed/read-source.ts';
import { createCertificates } from '../../support/kafka/certificates.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { operationsOf, readScan } from '../../support/scan/read-scan.ts';

const LINES = scanLedger(81, 120);
const SOME = 70;

/** No Scan is left for being behind. */
const PATIENT = { readyLagMaxMs: Number.MAX_SAFE_INTEGER };
const BUSY: Fault = { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '600' } };
const says = (text: RegExp): unknown => expect.stringMatching(text);

async function startScan({ onTestFinished }: TestContext, options: FakeScanOptions = {}): Promise<FakeScan> {
  const scan = await startFakeScan({ migrationId: 0, lines: LINES, ...options });
  onTestFinished(() => scan[Symbol.asyncDispose]());
  return scan;
}

const startTwo = (context: TestContext): Promise<[FakeScan, FakeScan]> =>
  Promise.all([startScan(context), startScan(context, { firstRow: 5 })]);

const countOf = ({ asked }: FakeScan, path: string): number => asked.filter((each) => each.path === path).length;

/** The Scan takes in nothing more: it answers 200 with what it has. */
const hangAfter = (scan: FakeScan, updates: number): void => void scan.lines.splice(updates);

async function expectAll(reading: ReadSource): Promise<void> {
  await reading.until({ stopped: null, lagSeconds: 0, blocking: [], updates: LINES.length });
  expect([...reading.lines].sort()).toEqual([...LINES].sort());
}

const warnings = ({ log }: ReadSource): string[] =>
  log.filter(({ level }) => level === 'warn').map(({ message }) => message);

describe('a Scan that fails', () => {
  const PASSING: readonly (readonly [string, Fault])[] = [
    ['429 with Retry-After', { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '1' } }],
    ['404 of a proxy', { status: 404, body: 'default backend - 404' }],
    [
      '503 before the history is there',
      { status: 503, body: { error: 'This scan has not yet loaded its updates history' } },
    ],
    ['an answer that is cut', 'cut'],
    ['an answer that is no gzip', 'no gzip'],
    ['an answer without updates', { status: 200, body: { something: [] } }],
  ];
  it.concurrent.for(PASSING)('by %s is asked again, and nothing is missing', async ([, fault], context) => {
    const scan = await startScan(context);
    scan.fail('/v2/updates', fault, 1);
    await using reading = await readScan([scan]);
    await expectAll(reading);
    expect(warnings(reading)).toHaveLength(1);
  });

  it.concurrent('for long is what readiness says, and the next one is asked', async (context) => {
    const [scan, other] = await startTwo(context);
    scan.fail('/', 'closed');
    await using alone = await readScan([scan]);
    const stopped = says(/^cannot read the network: .*\/v0\/dso-party-id: closed the connection/);
    await alone.until({ stopped, network: { lag_seconds: null, seconds_left: null } });
    await using reading = await readScan([scan, other]);
    await expectAll(reading);
  });

  const REFUSED: readonly (readonly [Fault, RegExp])[] = [
    [
      { status: 403, body: 'RBAC: access denied' },
      /dso-party-id: answers 403 \(RBAC: access denied\): .* has to add ours; it is not asked again before/,
    ],
    [
      { status: 308, body: '', headers: { location: 'https://elsewhere.example/' } },
      /answers 308, which refers to https:\/\/elsewhere\.example\/; it is not asked again/,
    ],
  ];
  it.concurrent.for(REFUSED)('by $0.status is refused, and the next one is asked', async ([fault, text], context) => {
    const [scan, other] = await startTwo(context);
    scan.fail('/', fault);
    await using alone = await readScan([scan]);
    expect(await alone.refusal()).toMatch(text);
    await using reading = await readScan([scan, other]);
    await expectAll(reading);
  });

  it.concurrent('with TLS is read where --scan-ca names its authority, and says so where not', async (context) => {
    using directory = temporaryDirectory();
    const { ca, broker } = await createCertificates(directory.path);
    const pem = readFileSync(broker, 'utf8');
    const secured = await startScan(context, { tls: { cert: pem, key: pem } });
    await using unknown = await readScan([secured]);
    await unknown.until({ stopped: says(/--scan-ca names the file of the authority/) });
    await using reading = await readScan([secured], { ca: readFileSync(ca, 'utf8') });
    await expectAll(reading);
  });
});

describe('a pause belongs to one Scan', () => {
  it.concurrent('the second is read while the first asks to be left alone for ten minutes', async (context) => {
    const [first, second] = await startTwo(context);
    first.fail('/v2/updates', BUSY);
    await using reading = await readScan([first, second]);
    const because = says(/answers 429 \(Too Many Requests\)/);
    await expectAll(reading);
    await reading.until({
      network: { scan: operationsOf(second), scans_left: { [operationsOf(first)]: { because } } },
    });
    const why = `${operationsOf(first)}/v2/updates: answers 429 (Too Many Requests)`;
    expect(warnings(reading)).toEqual([`another Scan is read in place of ${operationsOf(first)}: ${why}`]);
    expect(reading.log.map(({ message }) => message)).toContain(`reading the Scan at ${operationsOf(second)}`);
    expect(countOf(first, '/v2/updates')).toBe(1);
  });

  it.concurrent('where all have failed, the one with the shortest pause is asked again', async (context) => {
    const [first, second] = await startTwo(context);
    first.fail('/v2/updates', BUSY);
    second.fail('/v2/updates', 'closed', 2);
    await using reading = await readScan([first, second]);
    await expectAll(reading);
    expect(countOf(first, '/v2/updates')).toBe(1);
    expect(countOf(second, '/v0/dso-party-id')).toBeGreaterThan(2);
  });

  it.concurrent('in the middle of a snapshot import too', async (context) => {
    const [first, second] = await startTwo(context);
    for (const scan of [first, second]) scan.change({ snapshots: [timeOf(LINES[50]!)] });
    first.fail('/v1/holdings/summary', BUSY);
    await using reading = await readScan([first, second], { start: 'snapshot' });
    await reading.until({ stopped: null, lagSeconds: 0, network: { scan: operationsOf(second) } });
  });
});

describe('a Scan that takes in nothing more', () => {
  it.concurrent('is left at the start for one that has more', async (context) => {
    const [first, second] = await startTwo(context);
    hangAfter(first, SOME);
    await using reading = await readScan([first, second]);
    await expectAll(reading);
    const because = says(/shows no update after 0 .*, and .* has one of /);
    await reading.until({
      network: { scan: operationsOf(second), scans_left: { [operationsOf(first)]: { because } } },
    });
  });

  it.concurrent('is not believed to be at its end meanwhile, until it has what the other has', async (context) => {
    const [first, second] = await startTwo(context);
    hangAfter(first, SOME);
    await using reading = await readScan([first, second], PATIENT);
    const text = new RegExp(
      `^${operationsOf(first)} shows no update after .*, and ${operationsOf(second)} has one of `,
    );
    const network = { scan: operationsOf(first), caught_up_at: null, lag_seconds: expect.any(Number) };
    await reading.until({ updates: SOME, caughtUpAt: null, blocking: [says(text)], network });
    expect(reading.telemetry.lagSeconds).not.toBe(0);
    first.add(...LINES.slice(SOME));
    await expectAll(reading);
    expect(countOf(second, '/v0/dso-party-id')).toBe(0);
  });

  it.concurrent('is believed where the others do not answer', async (context) => {
    const [first, second] = await startTwo(context);
    second.fail('/', 'closed');
    await using reading = await readScan([first, second]);
    await expectAll(reading);
  });

  it.concurrent('is not at its end where another has shown more before', async (context) => {
    const [first, second] = await startTwo(context);
    hangAfter(second, SOME);
    await using reading = await readScan([first, second], PATIENT);
    await expectAll(reading);
    first.fail('/', 'closed');
    const contradiction = says(/^http\S+ shows no update after .*, and one of .* was read$/);
    await reading.until({ network: { scan: operationsOf(second), contradiction } });
    const { caughtUpAt, lagSeconds } = reading.telemetry;
    expect(lagSeconds).not.toBe(0);
    second.add(...LINES.slice(SOME));
    await reading.until({ network: { contradiction: null, lag_seconds: 0 } });
    expect(reading.telemetry.caughtUpAt).toBeGreaterThan(caughtUpAt!);
    await expectAll(reading);
  });
});

describe('what does not fit is refused before anything is applied', () => {
  it.concurrent('--start beginning of a network that came through a migration', async (context) => {
    const scan = await startScan(context, { migrationId: 4 });
    await using reading = await readScan([scan]);
    expect(await reading.refusal()).toMatch(/^--start beginning: the network is in migration 4, .* --start snapshot/);
    expect(reading.starts).toEqual([]);
  });

  it.concurrent('Scans of two networks', async (context) => {
    const [first, second] = await startTwo(context);
    first.change({ dso: 'OTHER::1220ff' });
    first.fail('/v2/updates', 'closed', 1);
    await using reading = await readScan([first, second]);
    expect(await reading.refusal()).toMatch(/is of the network of DSO::1220dd, and the other Scans are of the network/);
  });
});

describe('a network that goes on in a later migration', () => {
  const LATER = LINES.slice(SOME).map((line) => line.replace('"migration_id":0', '"migration_id":1'));

  it.concurrent('is read to the end of the earlier one and then refused', async (context) => {
    const scan = await startScan(context, { lines: LINES.slice(0, SOME) });
    await using reading = await readScan([scan]);
    await reading.until({ updates: SOME, lagSeconds: 0 });
    scan.add(...LATER);
    expect(await reading.refusal()).toMatch(
      /^the network goes on in migration 1, and a Scan does not give what was carried over into it: begin a new/,
    );
    expect(reading.lines).toHaveLength(SOME);
  });

  it.concurrent('is not read by a Scan that is still in the earlier one', async (context) => {
    const scan = await startScan(context, { lines: LINES.slice(0, SOME) });
    const reached = { migrationId: 1, recordTime: Date.parse(timeOf(LATER.at(-1)!)) * 1000 };
    await using reading = await readScan([scan], {}, { reached, furthest: reached });
    expect(await reading.refusal()).toMatch(
      /is in migration 0, and what is here is of migration 1: name a Scan of the same/,
    );
  });
});
