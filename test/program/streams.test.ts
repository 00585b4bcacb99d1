import { open } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createClient, type StreamEvent } from '../../client/src/index.ts';
import { collect } from '../support/http/collected.ts';
import { type EventStream, openStream, withoutStatus } from '../support/http/event-stream.ts';
import { type Service, startService } from '../support/http/service.ts';
import { eventLogs, withEventLogs } from '../support/ledger/event-log.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const STREAMS = 500;
const STREAMS_OF_ONE = 20;
const ALICE = partyOf('alice');
const directory = freshDirectory();
const lines = (text: string): readonly string[] => linesOf(parseLedger(text), 'scan');

interface Row {
  readonly migration_id: number;
  readonly record_time: string;
}

async function urlOf(service: Service): Promise<string> {
  return String((await service.program.logged('listening')).url);
}

/** The record times of all snapshots, oldest first. */
async function sealed(service: Service): Promise<string[]> {
  const { body } = await service.ask('/holdfast/v1/snapshots?order=asc&limit=1000');
  return (body as { snapshots: Row[] }).snapshots.map(({ record_time }) => record_time);
}

/** Updates, a snapshot period apart: a year of quiet intervals cut into parts, and coins of alice now and then. */
function backlog(updates: number): string[] {
  const start = Date.UTC(2025, 1, 12);
  return Array.from({ length: updates }, (_, i) => {
    const [line = ''] = lines(`00:01 =u${i} : ${i % 100 === 0 ? `+c${i} alice 1` : ''}`);
    const time = new Date(start + i * 60_000 + 1_000).toISOString();
    return line.replaceAll(/2025-02-12T00:01:00(\.0+)?Z/g, time);
  });
}

/** Whether a snapshot says that others were left out before it exactly where that is so. */
function saysWhatWasLeftOut(stream: EventStream, times: readonly string[]): boolean {
  const sent = stream.named('snapshot').map(({ data }) => ({ at: times.indexOf(String(data.record_time)), data }));
  return sent.every(({ at, data }, i) => i === 0 || (data.skipped === true) === at - sent[i - 1]!.at > 1);
}

const feedLines = backlog(900);

it('five hundred streams get the newest snapshots while a backlog is applied, and end when the service stops', async () => {
  const pipe = directory.namedPipe('feed');
  const args = ['--data', directory.at('data'), '--file', pipe, '--snapshot-period', '1m'];
  await using service = await startService(args);
  await using feed = await open(pipe, 'w');
  const url = await urlOf(service);
  using opened = new DisposableStack();
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async (_, i) => {
      const localAddress = `127.0.0.${2 + Math.floor(i / STREAMS_OF_ONE)}`;
      return opened.use(await openStream(url, { localAddress, owners: i % 2 === 0 ? [ALICE] : [] }));
    }),
  );
  expect(streams.map(({ status }) => status)).toEqual(Array(STREAMS).fill(200));
  const refused = opened.use(await openStream(url, { localAddress: '127.0.0.100' }));
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '10']);
  const idle = streams[3]!;
  idle.pause();

  const others = streams.filter((stream) => stream !== idle);
  await feed.write(`${feedLines.slice(0, 400).join('\n')}\n`);
  // Each has one before the rest, most of which it is then not sent.
  for (const stream of others) await stream.until(() => stream.named('snapshot').length > 0);
  await feed.write(`${feedLines.slice(400).join('\n')}\n`);
  const newest = '2025-02-12T14:59:00Z';
  for (const stream of others) await stream.until(() => stream.named('snapshot').at(-1)?.data.record_time === newest);
  const times = await sealed(service);
  expect(times).toHaveLength(899);
  expect(others.filter((stream) => !saysWhatWasLeftOut(stream, times))).toEqual([]);
  expect(others.filter((stream) => stream.named('snapshot').length > times.length / 4)).toEqual([]);
  expect(others.some((stream) => stream.named('snapshot').some(({ data }) => data.skipped === true))).toBe(true);

  service.program.kill('SIGTERM');
  const ended = await Promise.all(others.map(async (stream) => [await stream.ended, stream.events.at(-1)!.data.phase]));
  expect(ended).toEqual(Array(STREAMS - 1).fill([true, 'stopping']));
  expect((await service.program.ended).code).toBe(0);
});

it('a client resumes over a restart of the service, whether that was stopped or killed', async () => {
  const data = directory.at('data');
  const texts = [
    '00:01 =a : +a alice 10\n00:11 =b :',
    '00:21 =c : +b alice 1\n00:31 =d :',
    '00:41 =e : -a\n01:01 =f :',
  ];
  const files = texts.map((_, i) => directory.writeLines(`${i}.ndjson`, texts.slice(0, i + 1).flatMap(lines)));
  const sent: StreamEvent[] = [];
  const lastIdOf = (events: readonly StreamEvent[]) => events.findLast(({ id }) => id !== null)?.id ?? undefined;
  for (const [i, file] of files.entries()) {
    await using service = await startService(['--data', data, '--file', file]);
    await service.until('/readyz', (status) => status === 200);
    const resumed = { owners: [ALICE], lastEventId: lastIdOf(sent) };
    await using stream = collect((options) => createClient(service).stream({ ...resumed, ...options }));
    const newest = `0 2025-02-12T0${['0:10', '0:30', '1:00'][i]}:00Z`;
    await expect.poll(() => lastIdOf(stream.items)).toMatch(newest);
    sent.push(...stream.items);
    service.program.kill(i === 0 ? 'SIGKILL' : 'SIGTERM');
    await service.program.ended;
  }
  expect(withoutStatus({ events: sent.map(({ event, data }) => ({ name: event, data })) })).toEqual([
    'snapshot 0 00:10',
    'snapshot 0 00:20',
    'owner alice 00:30',
    'snapshot 0 00:30',
    'snapshot 0 00:40',
    'owner alice 00:50',
    'snapshot 0 00:50',
    'snapshot 0 01:00',
  ]);
});

it('says where and why the ingest is halted, and what is degraded', async () => {
  const [first = '', ...more] = lines('00:01 =a : +a alice 10\n00:11 =b :');
  const logged = withEventLogs(first, eventLogs('alice >a : +9 mint'));
  const feed = directory.writeLines('feed.ndjson', [logged, ...more, '{"bad": 1}']);
  const args = ['--data', directory.at('data'), '--file', feed];
  {
    await using service = await startService([...args, '--on-bad-update', 'quarantine']);
    await service.until('/readyz', (status) => status === 200);
    expect(await service.program.logged('updates are quarantined; this is the newest')).toMatchObject({
      ...{ level: 40, kind: 'update', reason: expect.any(String), quarantined: 1 },
    });
    using stream = await openStream(await urlOf(service));
    await stream.until(() => stream.events.length === 2);
    const degraded = [
      '1 update is quarantined; see `holdfast dead-letters list`',
      'EventLog events differ from 1 change of accounts, which totals do not depend on; the first is in update a, ' +
        'alice::1220ab: its legs come to 9.0000000000, its coins changed by 10.0000000000',
    ];
    expect(stream.events[0]!.data).toMatchObject({ phase: 'caught_up', halted: null, degraded });
    const { body } = await service.ask('/status');
    expect(body).toMatchObject({ degraded, counts: { legs_agree: 0, legs_differ: 1 } });
    const metrics = await (await fetch(new URL('/metrics', await urlOf(service)))).text();
    expect(metrics).toMatch(/^holdfast_legs_agree_total 0\n(.*\n)*holdfast_legs_differ_total 1\n/m);
  }
  const other = ['--data', directory.at('other'), '--file', feed];
  for (const more of [[], ['--read-only']]) {
    await using service = await startService(more.length === 0 ? other : [...other.slice(0, 2), ...more]);
    using stream = await openStream(await urlOf(service));
    await stream.until(() => stream.named('status').at(-1)?.data.phase === 'halted');
    const { halted } = stream.named('status').at(-1)!.data as { halted: Record<string, string> };
    expect(halted.location).toBe(`${feed}, message 3`);
    expect(halted.reason).toContain('expected');
  }
});
