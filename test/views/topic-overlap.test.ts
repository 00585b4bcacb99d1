import { describe, expect, it } from 'vitest';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { PossibleGap } from '../../src/views/write/possible-gap.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { type Format, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const directory = freshDirectory();

/** Files that end with two updates at one time, and then a topic from its first message on. */
async function filesThenTopic(topic: string, format: Format = 'ledger-api'): Promise<ViewsWriter['counts']> {
  const files = linesOf(
    parseLedger('00:01 =a : +a alice 10\n00:02 =b : +b bob 20\n00:02 =c : +c carol 30'),
    'ledger-api',
  );
  await replayInto(directory.at('data'), [directory.writeLines('feed.ndjson', files)]);
  using writer = new ViewsWriter(directory.at('data'), WRITER_OPTIONS);
  writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
  writer.followSource({ identity: '{"clusterId":"c","topic":"t"}', cursors: new Map([['0', '0']]) });
  for (const [offset, line] of linesOf(parseLedger(topic), format).entries()) {
    const chunk = decodeAlone({ lane: '0', offset, bytes: Buffer.from(line) });
    const applied = writer.apply(chunk);
    if (!applied.done) throw new Error(applied.halted?.reason);
  }
  writer.commit();
  return writer.counts;
}

describe('a topic after files that end with several updates at one time', () => {
  it.each([
    ['the first of them', '00:02 =b : +b bob 20\n00:02 =c : +c carol 30', 2],
    ['the last of them', '00:02 =c : +c carol 30', 1],
    ['an update before them', '00:01 =a : +a alice 10\n00:02 =b : +b bob 20\n00:02 =c : +c carol 30', 3],
  ])('overlaps where it begins with %s; another one at their time is then new', async (_, known, redelivered) => {
    const counts = await filesThenTopic(`${known}\n00:02 =d : +d dave 40\n00:03 =e : -d`);
    expect(counts).toMatchObject({ updates: 2, redelivered });
  });

  it.each([
    ['with another one at that time', '00:02 =d : +d dave 40'],
    ['later', '00:03 =e : +d dave 40'],
    ['with a synchronizer that the files do not have', '00:03 @z =e : +d dave 40'],
  ])('may lack some in between where it begins %s', async (_, topic) => {
    await expect(filesThenTopic(topic)).rejects.toThrow(PossibleGap);
  });

  it('seals nothing by a checkpoint of another synchronizer before it has shown any of theirs', async () => {
    const counts = await filesThenTopic('checkpoint : @z 01:00\n00:02 =c : +c carol 30');
    expect(counts).toMatchObject({ checkpointsBehind: 1, redelivered: 1 });
  });

  it('comes in disorder where that other one is of format A', async () => {
    await expect(filesThenTopic('00:02 =d : +d dave 40', 'scan')).rejects.toThrow('expected a time after');
  });
});
