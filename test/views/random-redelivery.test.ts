import { describe, expect, it } from 'vitest';
import { openDeadLetters } from '../../src/views/store/dead-letter-store.ts';
import {
  COIN_PACKAGE,
  type CoinPayload,
  type Contract,
  type HistoryEvent,
  type HistoryItem,
  type HistoryUpdate,
  inOrder,
} from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Cuts, type Format, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpRows } from '../support/views/views-dump.ts';

const DSO = 'DSO::1220dd';
const FORMATS: readonly Format[] = ['scan', 'ledger-api', 'acs-delta'];
const CUTS: readonly Cuts[] = [{ chunkBytes: 2 ** 20 }, { batchEventsMax: 7, epochEvents: 50 }];

/** A Scan shows no tokens, so a ledger with some is in a participant's form alone. */
const tokenShare = (seed: number): number => (seed % 3 === 2 ? 0.5 : 0);

function ledgerOf(seed: number, recreated: number): HistoryItem[] {
  const shape = { updates: 150, owners: 8, activeTarget: 40, synchronizers: 1 + (seed % 3), migrationId: 0, dso: DSO };
  const imports = { carriedOver: 10, importCreatesMax: 3 };
  const shares = { repair: 0.1, recreated, token: tokenShare(seed) };
  return [...randomLedger(oddLedger(seed + 500, { ...shape, ...imports, shares }))];
}

const isUpdate = (item: HistoryItem): item is HistoryUpdate => item.kind === 'update' && item.recordTime !== null;

/** Whether a coin counts. */
const isOurs = ({ payload, signatories, packageName }: Contract): boolean =>
  payload.kind === 'coin' && payload.dso === DSO && signatories.includes(DSO) && packageName === COIN_PACKAGE;

/** The view of a transaction that has nothing but creates and archives, and no contract that only passes through. */
function netOf(update: HistoryUpdate): HistoryUpdate {
  if (update.wrapping !== 'transaction') return update;
  const changes = [...inOrder(update.events)].filter(
    (each) => each.acsDelta && (each.kind === 'create' || each.consuming),
  );
  const idsOf = (kind: HistoryEvent['kind']): string[] =>
    changes.map((each) => (each.kind === kind ? each.contract.contractId : ''));
  const archivedAt = new Map(idsOf('exercise').map((id, at) => [id, at]));
  const passes = new Set(idsOf('create').filter((id, at) => id !== '' && (archivedAt.get(id) ?? -1) > at));
  const kept = changes.filter(({ contract }) => !passes.has(contract.contractId));
  return { ...update, events: kept.map((each) => (each.kind === 'exercise' ? { ...each, children: [] } : each)) };
}

/** A view of only what counts, by a node that writes parties in another order, and absent optionals. */
function oursOf(update: HistoryUpdate): HistoryUpdate {
  const net = netOf(update);
  const events = net.events.filter(({ contract }) => isOurs(contract) || update.wrapping !== 'transaction');
  return { ...net, events: events.map((event) => ({ ...event, contract: writtenOtherwise(event.contract) })) };
}

/** The views of a contract are computed when it is read, by the newest package then. */
function viewedOtherwise(update: HistoryUpdate): HistoryUpdate {
  const changed = (text: string): string => text.replaceAll(/"amount":"(?=\d)/g, '"amount":"1');
  const events = netOf(update).events.map((event) => {
    const views = JSON.parse(changed(JSON.stringify(event.contract.views ?? [])));
    return { ...event, contract: { ...event.contract, views } };
  });
  return { ...netOf(update), events: update.wrapping === 'transaction' ? events : update.events };
}

function writtenOtherwise(contract: Contract): Contract {
  const { payload, signatories, observers } = contract;
  const parties = { signatories: signatories.toReversed(), observers: [...observers, ...observers] };
  if (payload.kind !== 'coin') return { ...contract, ...parties };
  return { ...contract, ...parties, payload: { ...payload, unknown: { ...payload.unknown, absent: null } } };
}

type Change = (update: HistoryUpdate, random: Random, world: World) => HistoryUpdate | null;
interface World {
  readonly active: readonly Contract[];
  readonly gone: readonly Contract[];
}

const changedCoin =
  (change: (payload: CoinPayload) => CoinPayload | null): Change =>
  (update, random) => {
    const created = update.events.filter(({ kind, contract }) => kind === 'create' && isOurs(contract));
    if (created.length === 0) return null;
    const event = random.pick(created);
    const payload = change(event.contract.payload as CoinPayload);
    if (payload === null) return null;
    const other = { ...event, contract: { ...event.contract, payload } };
    return { ...update, events: update.events.map((each) => (each === event ? other : each)) };
  };

const changedEvent =
  (kind: HistoryEvent['kind'], change: (event: HistoryEvent) => readonly HistoryEvent[]): Change =>
  (update, random) => {
    const events = update.events.filter((event) => event.kind === kind && isOurs(event.contract));
    if (events.length === 0) return null;
    const event = random.pick(events);
    return { ...update, events: update.events.flatMap((each) => (each === event ? change(event) : [each])) };
  };

const withMore = (update: HistoryUpdate, more: HistoryEvent): HistoryUpdate => ({
  ...update,
  events: [...update.events, { ...more, node: 1 + Math.max(-1, ...update.events.map(({ node }) => node)) }],
});
const archiveOf = (contract: Contract): HistoryEvent => {
  const { templateId } = contract;
  return {
    kind: 'exercise',
    node: 0,
    contract,
    templateId,
    choice: 'Archive',
    consuming: true,
    acsDelta: true,
    children: [],
  };
};
const createOf = (contract: Contract): HistoryEvent => ({ kind: 'create', node: 0, contract, acsDelta: true });

/** What cannot be the update that was applied: it must be found out. */
const CHANGES: Readonly<Record<string, Change>> = {
  amount: changedCoin((payload) => ({ ...payload, amount: payload.amount + 1n })),
  rate: changedCoin((payload) => ({ ...payload, rate: payload.rate + 1n })),
  owner: changedCoin((payload) => ({ ...payload, owner: 'other::1220ee' })),
  'lock holder': changedCoin(
    ({ lock, ...payload }) => lock && { ...payload, lock: { ...lock, holders: ['other::1220ee'] } },
  ),
  'lock time': changedCoin(
    ({ lock, ...payload }) => lock && { ...payload, lock: { ...lock, expiresAt: lock.expiresAt + 1 } },
  ),
  observer: changedEvent('create', (event) => [
    { ...event, contract: { ...event.contract, observers: [...event.contract.observers, 'other::1220ee'] } },
  ]),
  'created id': changedEvent('create', (event) => [{ ...event, contract: { ...event.contract, contractId: '00ff' } }]),
  'archived id': changedEvent('exercise', (event) => [
    { ...event, contract: { ...event.contract, contractId: '00ff' } },
  ]),
  'missing create': changedEvent('create', () => []),
  'missing archive': changedEvent('exercise', () => []),
  'archive of its own create': changedEvent('create', (event) => [event, { ...archiveOf(event.contract), node: 999 }]),
  'one more create': (update, random, { active }) =>
    withMore(update, createOf({ ...random.pick(active), contractId: '00ee' })),
  'one more create of an active coin': (update, random, { active }) => withMore(update, createOf(random.pick(active))),
  'one more archive': (update, random, { active }) => withMore(update, archiveOf(random.pick(active))),
  'another id': (update) =>
    update.events.some(({ kind, contract }) => kind === 'create' && isOurs(contract))
      ? { ...update, updateId: '1220ff' }
      : null,
};

/** What changes nothing: a coin that is archived cannot be archived by it. */
const HARMLESS: Readonly<Record<string, Change>> = {
  'one more archive of a coin that is gone': (update, random, { gone }) =>
    withMore(update, archiveOf(random.pick(gone))),
};

/** The coins that are active after the ledger, and those that are not. */
function worldOf(items: readonly HistoryItem[]): World {
  const [active, gone] = [new Map<string, Contract>(), new Map<string, Contract>()];
  for (const item of items) {
    if (item.kind !== 'update') continue;
    for (const event of inOrder(item.events)) {
      const { contract } = event;
      if (!event.acsDelta || !isOurs(contract)) continue;
      if (event.kind === 'create') active.set(contract.contractId, contract);
      else if (event.consuming && active.delete(contract.contractId)) gone.set(contract.contractId, contract);
    }
  }
  return { active: [...active.values()], gone: [...gone.values()] };
}

describe.each(Array.from({ length: soakCount(3) }, (_, seed) => seed))('redelivery in random ledger %i', (seed) => {
  const random = createRandom(seed + 9);
  const hasTokens = tokenShare(seed) > 0;
  const formats = FORMATS.filter((format) => format !== 'scan' || !hasTokens);
  const viewOf = (update: HistoryUpdate): string[] => {
    const view = random.pick([(each: HistoryUpdate) => each, netOf, hasTokens ? viewedOtherwise : oursOf]);
    return linesOf([view(update)], random.pick(formats));
  };

  it('changes nothing in any view: at once, in the same batch, and after a restart', async () => {
    using directory = temporaryDirectory();
    const items = ledgerOf(seed, 0.02);
    const once = items.flatMap((item) => linesOf([item], 'ledger-api'));
    await replayInto(directory.at('once'), [directory.writeLines('once.ndjson', once)], { dso: DSO });
    const wanted = dumpRows(directory.at('once'));
    const again: string[] = [];
    for (const [i, item] of items.entries()) {
      again.push(...linesOf([item], isUpdate(item) ? random.pick(formats) : 'ledger-api'));
      const known = random.pick(items.slice(0, i + 1));
      if (isUpdate(known)) again.push(...viewOf(known));
    }
    const late = items.filter(isUpdate).flatMap(viewOf);
    for (const [i, cuts] of CUTS.entries()) {
      const data = directory.at(`again ${i}`);
      const first = await replayInto(data, [directory.writeLines('again.ndjson', again)], { dso: DSO, ...cuts });
      expect(first.halted?.reason).toBeUndefined();
      expect(dumpRows(data)).toEqual(wanted);
      const { halted, counts } = await replayInto(data, [directory.writeLines('late.ndjson', late)], cuts);
      expect({ reason: halted?.reason, counts }).toMatchObject({ counts: { updates: 0, redelivered: late.length } });
      expect(dumpRows(data)).toEqual(wanted);
    }
  });

  it('with one effect changed is disorder, and what is not changes nothing', async () => {
    using directory = temporaryDirectory();
    const items = ledgerOf(seed, 0);
    const once = items.flatMap((item) => linesOf([item], 'ledger-api'));
    const world = worldOf(items);
    const known = items
      .filter(isUpdate)
      .filter(({ wrapping }) => wrapping === 'transaction')
      .map(netOf);
    const changed: { name: string; line: string; isBad: boolean }[] = [];
    for (const [name, change] of Object.entries({ ...CHANGES, ...HARMLESS })) {
      for (let i = 0, found = 0; i < 200 && found < 4; i++) {
        const update = change(random.pick(known.slice(0, -20)), random, world);
        if (update === null) continue;
        const line = linesOf([update], random.pick(formats))[0]!;
        // The same bytes are one dead letter.
        if (changed.some((each) => each.line === line)) continue;
        found += 1;
        changed.push({ name, line, isBad: name in CHANGES });
      }
    }
    expect(new Set(changed.map(({ name }) => name)).size).toBe(Object.keys({ ...CHANGES, ...HARMLESS }).length);
    await replayInto(directory.at('once'), [directory.writeLines('once.ndjson', once)], { dso: DSO });
    const wanted = dumpRows(directory.at('once'));
    const late = changed.map(({ line }) => line);
    const options = { dso: DSO, onBadUpdate: 'quarantine' } as const;
    for (const [i, files] of [[[...once, ...late]], [once, late]].entries()) {
      const data = directory.at(`changed ${i}`);
      for (const lines of files)
        await replayInto(data, [directory.writeLines('lines.ndjson', lines)], { ...options, ...CUTS[i] });
      using deadLetters = openDeadLetters(data);
      const bad = new Map(deadLetters.list().map(({ offset, code }) => [offset - (i === 0 ? once.length : 0), code]));
      const found = changed.map(({ name }, at) => `${name}: ${bad.get(at + 1) ?? 'redelivered'}`);
      expect(found).toEqual(changed.map(({ name, isBad }) => `${name}: ${isBad ? 'disorder' : 'redelivered'}`));
      expect(dumpRows(data)).toEqual(wanted);
    }
  });
});
