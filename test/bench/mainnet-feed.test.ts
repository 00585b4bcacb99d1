import { describe, expect, it } from 'vitest';
import { mainnetLines } from '../../bench/mainnet/feed.ts';
import { openHoldings, post } from '../support/http/holdings-service.ts';
import { plainDecimal } from '../support/ledger/wire-text.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const UPDATES = 4_000;
const lines = [...mainnetLines({ seed: 3, updates: UPDATES })];
const updates = lines.map((line) => JSON.parse(line) as WireUpdate);
const events = updates.flatMap(({ events_by_id }) => Object.values(events_by_id));

interface WireUpdate {
  readonly events_by_id: Readonly<Record<string, WireEvent>>;
}

interface WireEvent {
  readonly event_type: 'created_event' | 'exercised_event';
  readonly contract_id: string;
  readonly template_id: string;
  readonly create_arguments: { readonly owner: string; readonly amount: { readonly initialAmount: string } };
  readonly consuming?: boolean;
}

const isCreate = (event: WireEvent): boolean => event.event_type === 'created_event';
const isCoin = ({ template_id }: WireEvent): boolean => template_id.endsWith(':Splice.Amulet:Amulet');
const isRound = ({ template_id }: WireEvent): boolean => template_id.endsWith(':Splice.Round:OpenMiningRound');
const changes = (event: WireEvent): boolean => isCreate(event) || event.consuming === true;

describe("the bench's feed of MainNet's shape", () => {
  it('is the same for the same seed, a beginning of any longer one, and another for another', () => {
    expect([...mainnetLines({ seed: 3, updates: 500 })]).toEqual(lines.slice(0, 500));
    expect([...mainnetLines({ seed: 4, updates: 500 })]).not.toEqual(lines.slice(0, 500));
  });

  it('is replayed whole, without a dead letter, to the totals that its coins add up to', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('mainnet.ndjson', lines);
    const replayed = await replayInto(directory.at('data'), [feed], { seal: true });
    expect(replayed.halted).toBeNull();
    const applied = [...countChanges(isCoin), ...countChanges(isRound)].reduce((sum, count) => sum + count, 0);
    expect(replayed.counts).toMatchObject({ updates: UPDATES, events: applied, redelivered: 0, counterfeits: 0 });

    const owned = coinsByOwner();
    expect(owned.size).toBeGreaterThan(20);
    using service = openHoldings(directory.at('data'));
    const newest = { migration_id: 4, record_time: '2199-01-01T00:00:00Z', record_time_match: 'at_or_before' };
    const question = JSON.stringify({ ...newest, owner_party_ids: [...owned.keys()] });
    const answer = await post(service.app, '/v0/holdings/summary', question);
    const { summaries } = (await answer.json()) as { summaries: { party_id: string; total_unlocked_coin: string }[] };
    const answered = summaries.map(({ party_id, total_unlocked_coin }) => [party_id, total_unlocked_coin]);
    expect(new Map(answered as [string, string][])).toEqual(owned);
  });

  it('archives coins that it created before, and three rounds are open at any time', () => {
    const [createdCoins, archivedCoins] = countChanges(isCoin);
    expect(archivedCoins / createdCoins).toBeGreaterThan(0.6);
    const [opened, closed] = countChanges(isRound);
    expect(closed).toBeGreaterThan(20);
    expect(opened - closed).toBe(3);
  });

  // What a page of a hundred of MainNet's updates has is after each.
  it.each<[string, number, number, number]>([
    ['kB of an update, mean', mean(lines.map(kB)), 8.2, 9.7], // 9.0
    ['kB of one in two at most', quantile(lines.map(kB), 0.5), 4.0, 4.3], // 4.17
    ['kB of nine in ten at most', quantile(lines.map(kB), 0.9), 23, 30], // 26.3
    ['events of an update, mean', events.length / UPDATES, 6.3, 7.4], // 6.9
    ['exercises of all events', share(events, (event) => !isCreate(event)), 0.64, 0.73], // 0.69
    ['changes of all events', share(events, changes), 0.8, 0.9], // 0.86
    ['updates that touch a coin', share(updates, touchesCoin), 0.04, 0.06], // 0.05
    ['templates', new Set(events.map(({ template_id }) => template_id)).size, 18, 18],
  ])('has %s', (_, measured, least, most) => {
    expect(measured).toBeGreaterThanOrEqual(least);
    expect(measured).toBeLessThanOrEqual(most);
  });
});

/** How many of them are created, and how many archived. */
function countChanges(isIt: (event: WireEvent) => boolean): [number, number] {
  const found = events.filter((event) => isIt(event) && changes(event));
  return [found.filter(isCreate).length, found.filter((event) => !isCreate(event)).length];
}

/** What each owner has at the end. */
function coinsByOwner(): Map<string, string> {
  const active = new Map<string, WireEvent>();
  for (const event of events.filter(isCoin)) {
    if (isCreate(event)) active.set(event.contract_id, event);
    else if (!active.delete(event.contract_id)) throw new Error(`${event.contract_id} is not active`);
  }
  const units = new Map<string, bigint>();
  for (const { create_arguments } of active.values()) {
    const { owner, amount } = create_arguments;
    units.set(owner, (units.get(owner) ?? 0n) + BigInt(amount.initialAmount.replace('.', '')));
  }
  return new Map([...units].map(([owner, sum]) => [owner, plainDecimal(sum)]));
}

function touchesCoin({ events_by_id }: WireUpdate): boolean {
  return Object.values(events_by_id).some((event) => isCoin(event) && changes(event));
}

function kB(line: string): number {
  return line.length / 1000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))]!;
}

function share<T>(values: readonly T[], has: (value: T) => boolean): number {
  return values.filter(has).length / values.length;
}
