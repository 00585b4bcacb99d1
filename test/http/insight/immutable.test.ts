import { expect, test } from 'vitest';
import { makeDataDirectory, openHoldings } from '../../support/http/holdings-service.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../../support/views/replayed.ts';

/** The DSO is seen with the first coin, behind two snapshots. */
const FIRST =
  '00:01 :\n00:21 : +a alice 1\n00:31 : +b alice 2 ; +c bob 3\n00:41 : -a ; +d bob 1\n00:51 : +e zoe 1\n01:01 :';
const LATER = '01:11 : -b ; +f alice 5\n01:21 : +g bob 5\n01:31 :';
const V1 = '/holdfast/v1';
const ALICE = partyOf('alice');
const UNTIL = '2025-02-12T00:50:00Z';
const NO_COIN_YET = '2025-02-12T00:20:00Z';

const IMMUTABLE = [
  `snapshots?migration_id=0&to=${UNTIL}&limit=2`,
  `snapshots?migration_id=0&to=${UNTIL}&limit=2&order=asc`,
  `snapshots?migration_id=0&to=${UNTIL}&limit=all&format=csv`,
  `owners?migration_id=0&record_time=${UNTIL}&limit=1`,
  `owners?migration_id=0&record_time=${UNTIL}&limit=all&format=csv`,
  `top?migration_id=0&record_time=${UNTIL}&limit=1`,
  `top?migration_id=0&record_time=${UNTIL}&limit=all&format=csv`,
  `owners/${ALICE}/history?migration_id=0&to=${UNTIL}`,
  `owners/${ALICE}/changes?migration_id=0&to=${UNTIL}&limit=1`,
  `owners/${ALICE}/changes?migration_id=0&to=${UNTIL}&limit=all&format=csv`,
];

interface Answer {
  readonly caching: string | null;
  readonly tag: string | null;
  readonly link: string | null;
  readonly body: string;
}

/** Answers to the targets, and to the next page of each that has one, as they are now. */
async function answers(dataDir: string, targets: readonly string[]): Promise<Record<string, Answer>> {
  using service = openHoldings(dataDir);
  const found: Record<string, Answer> = {};
  const pending = [...targets];
  for (let target = pending.pop(); target !== undefined; target = pending.pop()) {
    const { status, headers, text } = await ask(service, target);
    expect([target, status]).toEqual([target, 200]);
    const link = headers.get('link');
    found[target] = { caching: headers.get('cache-control'), tag: headers.get('etag'), link, body: text };
    const next = /^<[^>]*\/holdfast\/v1\/([^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
    if (next !== undefined) pending.push(next);
  }
  return found;
}

async function ask(
  { app }: ReturnType<typeof openHoldings>,
  target: string,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await app.request(`${V1}/${target}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('what may be kept for ever is the same, tag, link and all pages, after further snapshots', async () => {
  using folder = temporaryDirectory();
  const first = folder.writeLines('first', linesOf(parseLedger(FIRST), 'scan'));
  const later = folder.writeLines('later', linesOf(parseLedger(`${FIRST}\n${LATER}`), 'scan'));
  const dataDir = await makeDataDirectory([first]);
  const before = await answers(dataDir, IMMUTABLE);
  for (const [target, { caching }] of Object.entries(before))
    expect([target, caching]).toEqual([target, expect.stringContaining('immutable')]);
  expect(Object.keys(before).length).toBeGreaterThan(IMMUTABLE.length + 5);
  await replayInto(dataDir, [later]);
  // The links of then, not of now, are those that a client still has.
  expect(await answers(dataDir, Object.keys(before))).toEqual(before);
});

test('snapshots before any coin was seen may not be kept: the DSO is known later', async () => {
  using folder = temporaryDirectory();
  const [none, coin] = ['00:01 :\n00:31 :', '00:01 :\n00:31 :\n00:41 : +a alice 1\n00:51 :'].map((ledger, i) =>
    folder.writeLines(`feed-${i}`, linesOf(parseLedger(ledger), 'scan')),
  );
  const dataDir = await makeDataDirectory([none!]);
  const target = `snapshots?migration_id=0&to=${NO_COIN_YET}&limit=1`;
  const before = await answers(dataDir, [target]);
  expect(before[target]).toMatchObject({ caching: 'no-cache', body: expect.stringContaining('"dso":null') });
  await replayInto(dataDir, [coin!]);
  expect((await answers(dataDir, [target]))[target]!.caching).toContain('immutable');
});
