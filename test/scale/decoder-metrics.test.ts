import { pino } from 'pino';
import { expect, inject, it } from 'vitest';
import { serveDecoderMetrics } from '../../src/cli/decode-topic.ts';
import { createLagReader } from '../../src/scale/decoder.ts';
import { metricsAskedFor } from '../support/deploy/expressions.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { createTopic, plainConnection } from '../support/kafka/topic.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { taskOf } from '../support/scale/flat-topic.ts';
import { startMember } from '../support/scale/members.ts';

const address = inject('kafka').addresses.plain;

it('/metrics of a decoder says what it decodes, how far it is behind, and where it stopped', async () => {
  const topic = await createTopic(address, { partitions: 2 });
  await topic.send([
    { partition: 0, value: emptyUpdate('s', 1) },
    { partition: 0, value: '{"bad": 1}' },
    { partition: 0, value: emptyUpdate('s', 2) },
    { partition: 1, value: emptyUpdate('s', 7) },
  ]);
  const task = taskOf(topic);
  await using member = startMember(task);
  const connection = plainConnection(address);
  const lag = createLagReader(member.figures, { connection, topic: topic.name, logger: keepingLogger() });
  const at = { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }) };
  await using server = await serveDecoderMetrics({ figures: member.figures, lag, ...at });
  const answer = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();
  const figures = async (): Promise<string[]> =>
    (await answer('/metrics'))
      .split('\n')
      .filter((line) => line.startsWith('holdfast_decoder_'))
      .sort();
  const reached = (JSON.parse(emptyUpdate('s', 1)) as { record_time: string }).record_time;
  await expect
    .poll(figures)
    .toEqual([
      'holdfast_decoder_dead_letters_total{decision="dropped"} 0',
      'holdfast_decoder_dead_letters_total{decision="halted"} 1',
      'holdfast_decoder_dead_letters_total{decision="quarantined"} 0',
      'holdfast_decoder_events_total 2',
      'holdfast_decoder_lag_messages 2',
      'holdfast_decoder_messages_total 2',
      'holdfast_decoder_partitions 2',
      `holdfast_decoder_reached_timestamp_seconds ${Date.parse(reached) / 1000}`,
      'holdfast_decoder_stopped_partitions{cause="ahead_of_clock"} 0',
      'holdfast_decoder_stopped_partitions{cause="halted"} 1',
      'holdfast_decoder_topic_partitions 2',
    ]);
  const names = (await figures()).map((line) => /^\w+/.exec(line)![0]);
  expect(metricsAskedFor('holdfast_decoder_')).toEqual([...new Set(names)]);
  expect(await answer('/livez')).toBe('alive\n');
  const elsewhere = { ...member.figures, partitions: new Map([[2, [...member.figures.partitions.values()][0]!]]) };
  expect(await createLagReader(elsewhere, { connection, topic: topic.name, logger: keepingLogger() })()).toBeNull();
  await member[Symbol.asyncDispose]();
  expect(await figures()).toContain('holdfast_decoder_partitions 0');
});
