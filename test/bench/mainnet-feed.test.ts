import { describe, expect, it } from 'vitest';
import { mainnetLines } from '../../bench/mainnet/feed.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const UPDATES = 4_000;
const lines = [...mainnetLines({ seed: 3, updates: UPDATES })];

interface WireUpdate {
  readonly events_by_id: Readonly<Record<string, { readonly event_type: string; readonly template_id: string }>>;
}

describe("the bench's feed of MainNet's shape", () => {
  it('is the same for the same seed, a beginning of any longer one, and another for another', () => {
    expect([...mainnetLines({ seed: 3, updates: 500 })]).toEqual(lines.slice(0, 500));
    expect([...mainnetLines({ seed: 4, updates: 500 })]).not.toEqual(lines.slice(0, 500));
  });

  it('is replayed whole, without a dead letter', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('mainnet.ndjson', lines);
    const { halted, counts } = await replayInto(directory.at('data'), [feed], { seal: true });
    expect(halted).toBeNull();
    expect(counts).toMatchObject({ updates: UPDATES, redelivered: 0, counterfeits: 0 });
  });

  // What a page of a hundred of MainNet's updates has is 9.0 kB an update, 6.9 events, and coins in one of twenty.
  it('has the size, the events and the coins of MainNet', () => {
    const updates = lines.map((line) => Object.values((JSON.parse(line) as WireUpdate).events_by_id));
    const withCoins = updates.filter((events) => events.some(({ template_id }) => template_id.endsWith(':Amulet')));
    expect(lines.join('').length / UPDATES / 1000).toBeCloseTo(9, 0);
    expect(updates.flat().length / UPDATES).toBeCloseTo(6.9, 0);
    expect(withCoins.length / UPDATES).toBeCloseTo(0.05, 1);
  });
});
