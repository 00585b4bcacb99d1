import { randomUUID } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { runProgram, startProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { eventsOfLines } from '../support/scale/decoded.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { readCommitted } from '../support/scale/read-committed.ts';
import { seedOf } from '../support/scan/active-contracts.ts';
import { linesOf } from '../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;

it('a seed and what follows it go from a file through both topics, and the decoder says so in its metrics', async () => {
  using folder = temporaryDirectory();
  const lines = linesOf(randomLedger(flatLedger(9, { migrationId: 0, updates: 60 })), 'scan');
  const { record_time: recordTime } = JSON.parse(lines[20]!) as { record_time: string };
  const feed = [...seedOf(lines, { recordTime }), ...lines];
  const [input, flat] = [`t-${randomUUID()}`, `flat-${randomUUID()}`];
  const kafka = ['--kafka-brokers', address, '--kafka-topic', input];
  const sent = await runProgram(['produce', ...kafka, '--create', folder.writeLines('feed.ndjson', feed)]);
  expect(sent).toMatchObject({ code: 0 });
  const to = ['--flat-topic', flat, '--create', '--dso', FLAT_DSO, '--metrics-port', '0', '--mark-interval', '1m'];
  await using decoder = startProgram(['decode', ...kafka, ...to]);
  const { url } = await decoder.logged('metrics are served');
  const expected = eventsOfLines(feed, { dso: FLAT_DSO });
  const metrics = async (): Promise<string> => (await fetch(`${String(url)}/metrics`)).text();
  await expect.poll(metrics).toContain(`holdfast_decoder_messages_total ${feed.length}\n`);
  const [events = []] = await readCommitted(address, flat);
  expect(events.map(({ value }) => JSON.parse(String(value)) as unknown)).toEqual(expected);
  expect(await metrics()).toContain('holdfast_decoder_lag_messages 0\n');
  decoder.kill('SIGTERM');
  expect(await decoder.ended).toMatchObject({ code: 0 });
});
