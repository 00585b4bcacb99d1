import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterAll, describe, expect, test } from 'vitest';
import type { ReplayOptions } from '../../src/ingest/replay-files.ts';
import { otherReplica } from '../../src/service/compare-digests.ts';
import { openHoldings } from '../support/http/holdings-service.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Format, linesOf, replayInto } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
  folder[Symbol.dispose]();
});

interface Replayed extends Partial<ReplayOptions> {
  readonly format?: Format;
}

let directories = 0;
async function replayed(ledger: string, { format = 'scan', ...options }: Replayed = {}): Promise<string> {
  const name = `data-${++directories}`;
  const feed = folder.writeLines(`${name}.ndjson`, linesOf(parseLedger(ledger), format));
  const { halted } = await replayInto(folder.at(name), [feed], options);
  expect(halted).toBeNull();
  return folder.at(name);
}

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  ends.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves a directory's views. */
function served(dataDir: string): Promise<string> {
  const service = openHoldings(dataDir);
  ends.push(() => service[Symbol.dispose]());
  return listening(getRequestListener(service.app.fetch));
}

/** Compares a directory of one ledger with a served one of another. */
async function compared(
  own: string | { readonly dataDir: string },
  other: string | { readonly dataDir: string },
  ...options: readonly string[]
): Promise<Ended & { readonly migrations: unknown }> {
  const [data, there] = await Promise.all(
    [own, other].map(async (each) => (typeof each === 'string' ? await replayed(each) : each.dataDir)),
  );
  const ended = await holdfast('compare', '--data', data!, await served(there!), ...options, '--json');
  return { ...ended, migrations: ended.stdout === '' ? null : JSON.parse(ended.stdout).migrations };
}

async function expectCompared(args: Parameters<typeof compared>, code: number, migrations: object[]): Promise<Ended> {
  const ended = await compared(...args);
  expect({ code: ended.code, migrations: ended.migrations }).toEqual({ code, migrations });
  return ended;
}

const at = (clock: string): string => `2025-02-12T${clock}:00Z`;
const LEDGER = '00:01 : +a alice 10\n00:11 : +b bob 5\n00:21 : -a\n00:31 : +c carol 1\n00:41 :';
const data = await replayed(LEDGER);

function equal(from: string, to: string, count: number, by = 'digest', migrationId = 0): object {
  return { migration_id: migrationId, from: at(from), to: at(to), compared: count, first_different: null, by };
}

describe('holdfast compare', () => {
  test('finds equal what is equal, read in another format, as far as both go', async () => {
    const checkpoint = 'checkpoint : @s1 01:00';
    const own = { dataDir: await replayed(`${LEDGER}\n${checkpoint}`, { format: 'ledger-api', migrationId: 0 }) };
    const { code, migrations, stderr } = await compared(own, LEDGER);
    expect({ code, migrations, stderr }).toEqual({ code: 0, migrations: [equal('00:10', '00:40', 4)], stderr: '' });
  });

  test('names the first snapshot that differs, and with --from what changed since', async () => {
    const other = LEDGER.replace('bob 5', 'bob 6');
    const different = { ...equal('00:10', '00:40', 4), first_different: at('00:20') };
    await expectCompared([LEDGER, other], 5, [different]);
    await expectCompared([LEDGER, other, '--from', at('00:25')], 0, [equal('00:30', '00:40', 2, 'changes_digest')]);
    await expectCompared([LEDGER, other, '--to', at('00:19')], 0, [equal('00:10', '00:10', 1)]);
  });

  test('leaves out the snapshot with which the later one begins, and says so', async () => {
    const later = 'import : +a alice 10 at 00:01\n00:11 : +b bob 5\n00:21 : -a\n00:31 : +c carol 1\n00:41 :';
    await expectCompared([LEDGER, later], 0, [equal('00:30', '00:40', 2, 'changes_digest')]);
    for (const [own, other, whose] of [
      [LEDGER, later, 'the other one begins'],
      [later, LEDGER, 'this one begins'],
    ] as const) {
      const data = await replayed(own);
      const { stdout } = await holdfast('compare', '--data', data, await served(await replayed(other)));
      const range = `2 snapshots from ${at('00:30')} to ${at('00:40')}, by changes_digest`;
      const left = `without that of ${at('00:20')}, with which ${whose}, as it has everything`;
      expect(stdout).toBe(`migration 0: equal; ${range}; ${left}\n`);
    }
  });

  test('compares every migration that both have, or the one that is named', async () => {
    const own = `import m1 : +a alice 10\n00:01 m1 : +b bob 5\n00:11 m1 :\n00:02 m2 : +a alice 10\n00:12 m2 :`;
    const other = `${own}\n00:03 m3 : +d dave 1\n00:13 m3 :`.replace('bob 5', 'bob 6');
    const different = { ...equal('00:10', '00:10', 1, 'digest', 1), first_different: at('00:10') };
    await expectCompared([own, other], 5, [different, equal('00:10', '00:10', 1, 'digest', 2)]);
    await expectCompared([own, other, '--migration', '2'], 0, [equal('00:10', '00:10', 1, 'digest', 2)]);
  });

  test('reads more snapshots than a page has', async () => {
    const long = (amount: number): string => `00:01 : +a alice 10\n00:41 : +b bob ${amount}\n00:50 :`;
    const second = { snapshotPeriodUs: 1_000_000 };
    const own = { dataDir: await replayed(long(5), second) };
    const range = { from: '2025-02-12T00:01:01Z', to: '2025-02-12T00:49:59Z', compared: 2_939 };
    await expectCompared([own, { dataDir: await replayed(long(6), second) }], 5, [
      { migration_id: 0, ...range, first_different: '2025-02-12T00:41:00Z', by: 'digest' },
    ]);
  });

  test('leaves out forced snapshots', async () => {
    const [own, other] = [await replayed(LEDGER, { seal: true }), await replayed(LEDGER)];
    await expectCompared([{ dataDir: own }, { dataDir: other }], 0, [equal('00:10', '00:40', 4)]);
  });

  test.each([
    ['another period', LEDGER, { snapshotPeriodUs: 300_000_000 }, 'other snapshot period: 10m here, 5m there'],
    ['another DSO', LEDGER, { dso: 'other::1220ab' }, 'other DSO: DSO::1220ab here, other::1220ab there'],
    ['no time that both have', LEDGER.replaceAll(/^00/gm, '05'), {}, 'nothing in common with http://127.0.0.1:'],
    ['no migration that both have', LEDGER.replaceAll(' :', ' m7 :'), {}, 'nothing in common with http://127.0.0.1:'],
  ])('has nothing to compare with %s', async (_, other, options, said) => {
    const ended = await expectCompared([LEDGER, { dataDir: await replayed(other, options) }], 4, []);
    expect(ended.stderr).toContain(said);
  });

  test('says where the order of reading may be the reason', async () => {
    const two = await compared(`${LEDGER}\n00:42 @s2 :`, LEDGER);
    expect(two.stderr).toContain('migration 0 has updates of 2 synchronizers: a difference may only mean');
    const repaired = `${LEDGER}\n00:42 =x :\n00:42 =y :\n00:43 :`;
    const own = { dataDir: await replayed(repaired, { format: 'ledger-api', migrationId: 0 }) };
    expect((await compared(own, LEDGER)).stderr).toContain('migration 0 has updates of 1 repair: a difference');
  });
});

describe('another Holdfast that gives no such answer', () => {
  const json = (body: unknown, status = 200): RequestListener => {
    return (_, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const HEAD = { period: '10m', dso: null, snapshots: [] };

  test.each<[string, RequestListener, string]>([
    ['a page of its own', (_, response) => void response.end('<html>'), 'the answer: Invalid input'],
    ['other fields', json({ ...HEAD, period: 7 }), 'period: Invalid input: expected string, received number'],
    ['no such path', json({ error: 'Not found' }, 404), 'given status 404 ("Not found"), expected the snapshots'],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/' }).end(), 'no answer of a Holdfast ('],
    [
      'a cut answer',
      (_, response) => void response.writeHead(200, { 'content-length': 9 }).end('{'),
      'no answer of a Holdfast (',
    ],
    ['too much', (_, response) => void response.end('x'.repeat(5_000_000)), 'the answer is larger than 4194304 bytes'],
  ])('%s: says what was given, and ends with 1', async (_, answer, said) => {
    const { code, stdout, stderr } = await holdfast('compare', '--data', data, await listening(answer));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  test('is not waited for longer than the time limit', async () => {
    const silent = otherReplica(new URL(await listening(() => {})), {
      stop: new AbortController().signal,
      timeoutMs: 50,
    });
    await expect(silent.migration(0)).rejects.toThrow(
      /no answer of a Holdfast \(The operation was aborted due to timeout\)/,
    );
  });

  test('is not there', async () => {
    const [port] = await freePorts(1);
    const { code, stderr } = await holdfast('compare', '--data', data, `http://127.0.0.1:${port}`);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/no answer of a Holdfast \(.*ECONNREFUSED/),
    });
  });
});

test.each([
  ['nowhere', 'URL: given "nowhere", expected the http(s) address of a Holdfast'],
  ['http://a:secret@x', 'URL: given one with a user or password, expected'],
  ['http://a:secret@x:99999', 'URL: given "http://...@x:99999", expected'],
  ['http://x --migration one', '--migration: given "one", expected an integer'],
  ['http://x --from 2025-02-12T01:00:00Z --to 2025-02-12T00:00:00Z', 'expected a time at or before --to'],
])('compare %s is refused', async (line, said) => {
  const { code, stdout, stderr } = await holdfast('compare', '--data', data, ...line.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(said);
});
