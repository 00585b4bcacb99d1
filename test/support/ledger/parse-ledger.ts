import {
  AMULET,
  COIN_PACKAGE,
  type Contract,
  type Draft,
  type HistoryItem,
  type HistoryUpdate,
  LOCKED_AMULET,
  type Micros,
  numbered,
  OPEN_ROUND,
} from './history.ts';
import { shortTime } from './wire-text.ts';
import { coinViews, type HoldingTerms, holdingViews } from './wire-views.ts';

/** Parties of ledgers that are written as text, by the names they go by there. */
export function partyOf(name: string): string {
  return `${name}::1220ab`;
}

/** A time of day of the only day of these ledgers. */
export function clockTime(clock: string): Micros {
  const [time = '', fraction = ''] = clock.split('.');
  const seconds = time.length === 5 ? `${time}:00` : time;
  return Date.parse(`2025-02-12T${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}

const WRAPPINGS = ['import', 'assignment', 'unassignment'] as const;
const COIN = 10_000_000_000n;
/** 0.1 coins a round */
const RATE = COIN / 10n;

/**
 * Reads a small ledger, a line for each update; blank lines count for nothing. A line is its head, then happenings with
 * `;` between:
 *
 *     00:01 m1 @s2 =id : +a alice 10 ; -b
 *
 * Head: a time of day (none for an import), migration (m0), synchronizer (@s1), update id (=u and the line's number) and, where it
 * is no transaction, its kind: import, assignment, unassignment, topology, or checkpoint, whose times are its happenings. A
 * reassignment `within` is one from its synchronizer to the same.
 * Happenings: `+a alice 10` creates a coin called a, `+r round 5` an open round, `-a` archives. Words after them:
 * locked, forged (a dso of its own), unsigned (not by the dso), `dso X`, `at 00:00` (created at), `off` (acsDelta false),
 * `upgraded` (another package id), `reordered` (signatories in another order), `unused` (consumes nothing), `viewed` (the coin
 * shows its views).
 * `+t alice 5 USDC@registry` creates a token called t, of an instrument and its admin, shown in both versions; the owner `none` is
 * none. Words after it: locked, `until 01:00` (locked), `by provider`, `id savings`, `v1`, `v2`, forged (the admin did not sign),
 * failed (its views did), `saying text` (its amount).
 * `contracts` are those that archives may name besides the ledger's own.
 */
export function parseLedger(text: string, contracts: Map<string, Contract> = new Map()): HistoryItem[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, i) => parseLine(contracts, line, i + 1));
}

interface Head {
  readonly time: Micros | null;
  readonly migrationId: number;
  readonly synchronizerId: string;
  readonly updateId: string;
  readonly kind: string;
  readonly isWithin: boolean;
}

function headOf(text: string, number: number): Head {
  const words = text.trim().split(/\s+/);
  const found = (pattern: RegExp): string | undefined => words.find((word) => pattern.test(word));
  const clock = found(/^\d\d:/);
  return {
    time: clock === undefined ? null : clockTime(clock),
    migrationId: Number(found(/^m\d+$/)?.slice(1) ?? 0),
    synchronizerId: found(/^@/)?.slice(1) ?? 's1',
    updateId: found(/^=/)?.slice(1) ?? `u${number}`,
    kind: found(/^(?!within$)[a-ln-z]\w+$/) ?? 'transaction',
    isWithin: words.includes('within'),
  };
}

function parseLine(contracts: Map<string, Contract>, line: string, offset: number): HistoryItem {
  const [first = '', rest = ''] = line.split(/ :(?= |$)/, 2);
  const { time, kind, isWithin, ...head } = headOf(first, offset);
  const parts = rest.split(';').map((part) => part.trim());
  const said = parts.filter((part) => part !== '');
  if (kind === 'checkpoint') {
    return { kind, migrationId: head.migrationId, offset, times: said.map(checkpointTime) };
  }
  if (kind === 'topology') return { kind: 'notice', name: 'TopologyTransaction', ...head, recordTime: time!, offset };
  const wrapping = WRAPPINGS.find((each) => each === kind) ?? 'transaction';
  const createdAt = time ?? clockTime('00:00');
  const events = numbered(said.map((happening) => draftOf(contracts, happening.split(/\s+/), createdAt)));
  const update = { kind: 'update', wrapping, ...head, offset, effectiveAt: createdAt, events } as const;
  const otherSynchronizerId = isWithin ? head.synchronizerId : 'elsewhere';
  const other = wrapping.endsWith('assignment') ? { otherSynchronizerId } : {};
  return { ...update, ...other, recordTime: time } satisfies HistoryUpdate;
}

function checkpointTime(text: string): { synchronizerId: string; recordTime: Micros } {
  const [name = '', clock = ''] = text.split(/\s+/);
  return { synchronizerId: name.slice(1), recordTime: clockTime(clock) };
}

function draftOf(contracts: Map<string, Contract>, words: readonly string[], createdAt: Micros): Draft {
  const [sign, name] = [words[0]![0], words[0]!.slice(1)];
  const acsDelta = !words.includes('off');
  if (sign === '+') {
    const contract = words[3]?.includes('@')
      ? tokenOf(name, words.slice(1), createdAt)
      : contractOf(name, words.slice(1), createdAt);
    contracts.set(name, contract);
    return { kind: 'create', contract, acsDelta };
  }
  const contract = contracts.get(name) ?? contractOf(name, ['nobody', '1'], createdAt);
  const templateId = words.includes('upgraded') ? contract.templateId.replace('package', 'newer') : contract.templateId;
  const exercise = { kind: 'exercise', contract, templateId, choice: 'Archive', acsDelta, children: [] } as const;
  return { ...exercise, consuming: !words.includes('unused') };
}

const behindIn = (words: readonly string[], word: string): string | undefined => {
  return words.includes(word) ? words[words.indexOf(word) + 1] : undefined;
};

function tokenOf(name: string, words: readonly string[], createdAt: Micros): Contract {
  const [owner = '', amount = '', place = ''] = words;
  const [instrument = '', adminName = ''] = place.split('@');
  const admin = partyOf(adminName);
  const [until, provider, at] = ['until', 'by', 'at'].map((word) => behindIn(words, word));
  const isLocked = words.includes('locked') || until !== undefined;
  const expiresAt = until === undefined ? null : shortTime(clockTime(until));
  const terms: HoldingTerms = {
    ...{ admin, instrument, owner: owner === 'none' ? null : partyOf(owner) },
    provider: provider === undefined ? null : partyOf(provider),
    accountId: behindIn(words, 'id') ?? '',
    amount: BigInt(amount) * COIN,
    lock: isLocked ? { holders: [admin], expiresAt, expiresAfter: null, context: null } : null,
  };
  const said = behindIn(words, 'saying');
  const views = holdingViews(words.includes('v1') ? ['V1'] : words.includes('v2') ? ['V2'] : ['V1', 'V2'], terms);
  const failed = { viewStatus: { code: 9, message: 'failed', details: [] }, viewValue: null };
  return {
    contractId: `00${Buffer.from(name).toString('hex')}`,
    templateId: 'package:Registry.Holding:Holding',
    packageName: 'registry-holding',
    createdAt: at === undefined ? createdAt : clockTime(at),
    signatories: words.includes('forged') ? [partyOf('forger')] : [admin, terms.owner ?? admin],
    observers: [],
    payload: { kind: 'other', arguments: {} },
    views: views.map((view) => ({
      ...view,
      ...(said !== undefined && { viewValue: { ...view.viewValue, amount: said } }),
      ...(words.includes('failed') && failed),
    })),
  };
}

function contractOf(name: string, words: readonly string[], createdAt: Micros): Contract {
  const behind = (word: string): string => behindIn(words, word)!;
  const dsoName = words.includes('dso') ? behind('dso') : words.includes('forged') ? 'forger' : 'DSO';
  const dso = partyOf(dsoName);
  const isRound = words[0] === 'round';
  const owner = partyOf(words[0]!);
  const signers = words.includes('unsigned') ? [owner] : isRound ? [dso] : [dso, owner];
  const entity = isRound ? OPEN_ROUND : words.includes('locked') ? LOCKED_AMULET : AMULET;
  const created = words.includes('at') ? clockTime(behind('at')) : createdAt;
  const coin = {
    kind: 'coin',
    dso,
    owner,
    amount: BigInt(words[1]!) * COIN,
    rate: RATE,
    round: 1n,
    lock: words.includes('locked') ? { holders: [dso], expiresAt: clockTime('23:00'), context: null } : null,
    unknown: {},
  } as const;
  return {
    contractId: `00${Buffer.from(name).toString('hex')}`,
    templateId: `${words.includes('upgraded') ? 'newer' : 'package'}:${entity}`,
    packageName: COIN_PACKAGE,
    createdAt: created,
    signatories: words.includes('reordered') ? [...signers].reverse() : signers,
    observers: [],
    payload: isRound ? { kind: 'round', dso, round: BigInt(words[1]!), opensAt: created } : coin,
    ...(words.includes('viewed') && { views: coinViews(coin) }),
  };
}
