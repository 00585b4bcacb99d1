import { expect, it } from 'vitest';
import { openStream } from '../support/http/event-stream.ts';
import { startService } from '../support/http/service.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { createRandom } from '../support/ledger/random.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { soakCount } from '../support/program/soak.ts';
import { linesOf } from '../support/views/replayed.ts';

const ROUNDS = soakCount(4);
const UPDATES_PER_ROUND = 120;
const directory = freshDirectory();

/** Seven seconds apart. Two of three are a deposit of alice's; she merges each third one with the one before. */
function feedOf(updates: number): readonly string[] {
  const start = Date.UTC(2025, 1, 12, 0, 11);
  return Array.from({ length: updates }, (_, i) => {
    const time = new Date(start + i * 7_000).toISOString().slice(11, 19);
    return `${time} =u${i} : ${i % 3 === 2 ? `-d${i - 2} ; -d${i - 1} ; +d${i} alice 3` : `+d${i} alice ${1 + (i % 3)}`}`;
  });
}

it(`a client credits each deposit once, over ${ROUNDS} services that are killed with SIGKILL at random`, async () => {
  const random = createRandom(ROUNDS);
  const updates = feedOf(ROUNDS * UPDATES_PER_ROUND);
  const lines = linesOf(parseLedger(['00:01 =first : +x bob 1', ...updates].join('\n')), 'scan');
  const deposits = updates.flatMap((text, i) => (text.includes(' ; ') ? [] : [`u${i} ${1 + (i % 3)}`]));
  const credited: string[] = [];
  /** Stored with each deposit. The first snapshot is waited for. */
  let lastEventId = '0 2025-02-12T00:10:00Z';
  for (let round = 1; round <= ROUNDS; round++) {
    const feed = directory.writeLines(`${round}.ndjson`, lines.slice(0, round * UPDATES_PER_ROUND + 1));
    // Two replicas, each of which reads the feed for itself.
    await using service = await startService(['--data', directory.at(`replica-${round % 2}`), '--file', feed]);
    using stream = await openStream(service.url, { owners: [partyOf('alice')], events: 'movements', lastEventId });
    const isLast = round === ROUNDS;
    const wanted = isLast ? deposits.length - credited.length : random.below(UPDATES_PER_ROUND / 2);
    await stream.until(() => stream.named('movement').length >= wanted);
    service.program.kill('SIGKILL');
    await stream.ended;
    expect(stream.named('reset')).toEqual([]);
    const ids = stream.events.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, name, data } of stream.events) {
      // A client may go away before it has stored all that it was sent.
      if (!isLast && random.chance(0.02)) break;
      if (name === 'movement') credited.push(`${data.update_id} ${Number(data.change_total)}`);
      lastEventId = id ?? lastEventId;
    }
  }
  expect(credited).toEqual(deposits);
}, 300_000);
