import { expect, it } from 'vitest';
import { AnswerFailure } from '../../../src/feed/network/answer-failure.ts';
import { PageSize } from '../../../src/feed/scan/page-size.ts';
import { openScanSource } from '../../../src/feed/scan/scan-source.ts';
import { FeedRefused } from '../../../src/feed/source.ts';
import { keepingLogger } from '../../support/kafka/reading.ts';
import { scanLedger } from '../../support/scan/ledger.ts';
import { startFakeScan } from '../../support/scan/server.ts';

/** So many updates of one record time, each with an id of its own. */
function atOneTime(count: number): string[] {
  const [first = ''] = scanLedger(5, 10);
  return Array.from({ length: count }, (_, i) =>
    first.replace(/"update_id":"[^"]*"/, `"update_id":"1220${i.toString(16).padStart(4, '0')}"`),
  );
}

const SETTINGS = { pollIntervalMs: 10, readyLagMaxMs: 60_000, ca: null, start: 'beginning' } as const;
const CONTEXT = {
  stored: { identity: null, lanes: new Map() },
  reached: null,
  furthest: null,
  directoryId: '',
  migrationId: 0,
};

it('pages that are full of one time, where a larger one takes too long, are asked for with longer and longer pauses', async () => {
  await using scan = await startFakeScan({ migrationId: 0, lines: atOneTime(30), pageSizeInTime: 15 });
  const pauses: number[] = [];
  const warn = (fields: object): void => void pauses.push((fields as { retryInMs: number }).retryInMs);
  const logger = { ...keepingLogger(), warn };
  const source = openScanSource({ ...SETTINGS, urls: [`${scan.url}/api/scan`], pageSize: 10 }, { ...CONTEXT, logger });
  const stop = new AbortController();
  const reading = (async () => {
    for await (const _ of source.batches(stop.signal)) if (stop.signal.aborted) return;
  })();
  await expect.poll(() => source.telemetry!().errors).toBeGreaterThanOrEqual(3);
  stop.abort();
  await reading;
  expect(pauses.length).toBeGreaterThanOrEqual(3);
  expect(pauses[2]).toBeGreaterThan(pauses[0]!);
  const sizes = scan.asked.filter(({ path }) => path === '/v2/updates').map(({ body }) => body.page_size);
  expect(sizes.slice(0, 5)).toEqual([10, 10, 20, 20, 20]);
  expect(new Set(sizes.slice(5))).not.toContain(10);
});

it('a page as large as is needed that is refused again and again ends the asking, with the reason', async () => {
  const size = new PageSize(10);
  const tooLong = new AnswerFailure('takes too long', { status: 503, isTooMuch: true });
  const refusal = (): Promise<AnswerFailure> =>
    size.ask(() => Promise.reject(tooLong)).catch((error: AnswerFailure) => error);
  expect(await size.ask((asked) => Promise.resolve(asked))).toBe(10);
  expect(size.grow()).toBe(true);
  for (let i = 0; i < 7; i++) expect(await refusal()).toMatchObject({ about: { conduct: 'back off' } });
  expect(await refusal()).toMatchObject({
    about: { conduct: 'stop' },
    message: expect.stringMatching(/pages of 10 updates that all have one record time.*from files \(takes too long\)$/),
  });
});

it('a maximum that is no more than one time has is refused at once', async () => {
  await using scan = await startFakeScan({ migrationId: 0, lines: atOneTime(30), pageSizeMax: 12 });
  const source = openScanSource(
    { ...SETTINGS, urls: [`${scan.url}/api/scan`], pageSize: 12 },
    { ...CONTEXT, logger: keepingLogger() },
  );
  const all = async (): Promise<void> => {
    for await (const _ of source.batches(new AbortController().signal)) void _;
  };
  const failed = await all().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(FeedRefused);
  expect((failed as Error).message).toMatch(/of 12 updates that all have one record time.*limit maximum \(24 > 12\)/);
});
