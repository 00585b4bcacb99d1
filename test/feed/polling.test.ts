import { beforeEach, describe, expect, it } from 'vitest';
import { type Serving, serveSources } from '../support/feed/serve.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { writePollingKind } from '../support/polling/write-polling-kind.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { freshScan } from '../support/scan/fresh-scan.ts';
import { linesOf } from '../support/views/replayed.ts';

/** The source under test lives in test/support/polling: src is only given where its module is. */
const directory = freshDirectory();
const data = (): string => directory.at('data');
const network = freshScan({ dso: 'the only one' });
let kind: string;
beforeEach(() => {
  kind = writePollingKind(directory);
});

const lines = (text: string): readonly string[] => linesOf(parseLedger(text), 'scan');

function serve(options: Readonly<Record<string, unknown>> = {}): Promise<Serving> {
  const { url } = network;
  return serveSources({ data: data(), ...options }, [{ kind, name: `network ${url}`, settings: { url, pageSize: 2 } }]);
}

const FIRST = lines('00:01 : +a alice 10\n00:02 : +b bob 5\n00:11 : +c alice 7\n00:21 : -b');
const tokenOf = (line: string): string => {
  const { migration_id, record_time } = JSON.parse(line) as { migration_id: number; record_time: string };
  return `${migration_id} ${record_time}`;
};

/** After what the updates were asked for. */
const asked = (): (string | null)[] =>
  network.asked
    .filter(({ path }) => path === '/v2/updates')
    .map(({ body }) => body.after as { after_migration_id: number; after_record_time: string } | undefined)
    .map((after) => (after === undefined ? null : `${after.after_migration_id} ${after.after_record_time}`));

describe('a source that src does not know', () => {
  it('is waited for and read to its end, continues after what is stored, and is refused where it is another', async () => {
    network.fail('/', { status: 503, body: '' });
    {
      await using service = await serve();
      const unanswered = `cannot read ${network.url}: ${network.url}/v0/dso-party-id answers 503`;
      await service.until('/readyz', { ready: false, reasons: [unanswered, 'no snapshot is sealed yet'] });
      network.fail('/', null);
      network.add(...FIRST);
      await service.until('/readyz', { ready: true });
      expect(await service.get('/status')).toMatchObject({
        phase: 'reading',
        source: { name: `network ${network.url}`, resumeToken: tokenOf(FIRST.at(-1)!) },
        counts: { updates: 4, redelivered: 0 },
      });
    }
    const before = asked().length;
    const more = lines('00:31 : +d carol 3');
    network.add(...more);
    {
      await using service = await serve();
      await service.until('/status', {
        source: { resumeToken: tokenOf(more[0]!) },
        counts: { updates: 1, redelivered: 0 },
      });
    }
    expect(asked()[before]).toBe(tokenOf(FIRST.at(-1)!));
    network.change({ dso: 'another one' });
    await using service = await serve();
    const reason =
      `these views were built from the only one, and network ${network.url} is another one: ` +
      'name the source as before, or give another --data directory';
    await service.until('/readyz', { ready: false, reasons: [reason] });
    await service.until('/status', {
      phase: 'refused',
      source: { resumeToken: tokenOf(more[0]!) },
      last_error: { message: reason },
    });
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });

  it('halts at a bad message, and continues after it once that is dropped', async () => {
    const [bad = '', good = ''] = lines('00:31 =x : -b\n00:41 : +d carol 3');
    network.add(...FIRST, bad, good);
    {
      await using service = await serve();
      await service.until('/status', {
        phase: 'halted',
        source: { resumeToken: tokenOf(FIRST.at(-1)!) },
        halted: { dead_letter: 1, kind: 'update', item: 5, up_to: tokenOf(bad), update_id: 'x' },
      });
      const { reasons } = (await service.get('/readyz')) as { reasons: string[] };
      expect(reasons[0]).toContain(`halted at network ${network.url}, item 5, up_to ${tokenOf(bad)}: update x`);
    }
    const listed = await holdfast('dead-letters', 'list', '--data', data(), '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id: 1, decision: 'halted', up_to: tokenOf(bad) }]);
    expect(await holdfast('dead-letters', 'drop', '1', '--yes', '--data', data())).toMatchObject({ code: 0 });
    const before = asked().length;
    await using service = await serve();
    await service.until('/status', { source: { resumeToken: tokenOf(good) }, counts: { updates: 1, decided: 0 } });
    expect(asked()[before]).toBe(tokenOf(bad));
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });
});
