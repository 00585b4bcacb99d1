import { BadUpdate, type Fault } from '../ledger/bad-update.ts';
import { expiryOf } from '../ledger/coin.ts';
import { archivedLine, createdLine, itemOf, tokenLine } from '../ledger/digest.ts';
import { contractIdHash } from '../ledger/ledger-ids.ts';
import { type CoinEntity, type Entity, TEMPLATES } from '../ledger/templates.ts';
import type { Coin, HoldingCreate, HoldingView, LedgerEvent, OpenRound, OtherContract } from '../ledger/update.ts';

export type ContractEvent = NewCoin | NewToken | NewRound | UncountedCreate | UncountedHolding | ArchivedContract;

interface OfContract {
  readonly contractId: string;
  /** The 53-bit hash of migration and contract id. */
  readonly idHash: number;
}

/** What the rows of a coin and a token follow from. */
interface NewContract
  extends OfContract,
    Pick<Coin, 'owner' | 'amount' | 'rate' | 'round' | 'createdAt' | 'node' | 'extra'> {
  /** The first round in which its fee reaches its amount; Infinity: never. */
  readonly expiry: number | bigint;
  /** The number of its digest item in the batch. */
  readonly item: number;
}

/** The create of a coin that its DSO signed. */
export interface NewCoin extends NewContract {
  readonly kind: CoinEntity;
  /** One object for all coins of a batch that have the same, which a structured clone keeps as one. */
  readonly origin: CoinOrigin;
  readonly viewDiffers: boolean;
}

export interface CoinOrigin {
  readonly dso: string;
  readonly templateId: string;
  readonly packageName: string;
}

/** The create of a token that the admin of its instrument signed. Owner and provider are empty for none, rate and round 0. */
export interface NewToken extends NewContract {
  readonly kind: 'token' | 'locked token';
  readonly origin: TokenOrigin;
  readonly provider: string;
  readonly accountId: string;
  readonly ignoredAs: OtherContract;
}

export interface TokenOrigin extends Pick<HoldingView, 'admin' | 'instrument'>, Omit<CoinOrigin, 'dso'> {}

/** The create of a round that its DSO signed. */
export interface NewRound extends OfContract {
  readonly kind: 'OpenMiningRound';
  readonly dso: string;
  readonly round: OpenRound;
}

/** The create of a coin or round that does not count whichever DSO counts. */
export interface UncountedCreate extends OfContract {
  readonly kind: 'uncounted';
  readonly entity: Entity;
  readonly dso: string;
  /** What is wrong with it, which matters only if its DSO is the one that counts; null where that did not sign it. */
  readonly fault: Fault | null;
}

/** The create of a holding that its admin did not sign, or whose views cannot be read. */
export interface UncountedHolding extends OfContract {
  readonly kind: 'uncounted holding';
  /** Null for a counterfeit. `admin` and `instrument` where they can be read. */
  readonly unreadable: UnreadableHolding | null;
  readonly ignoredAs: OtherContract;
}

export interface UnreadableHolding extends Partial<Pick<HoldingView, 'admin' | 'instrument'>> {
  readonly templateId: string;
  readonly reason: string;
  readonly stakeholders: readonly string[];
}

export interface ArchivedContract extends OfContract {
  readonly kind: 'archive';
  /** Null where the feed gives only the id. */
  readonly entity: Entity | OtherContract | null;
  /** -1 for that of another template. */
  readonly item: number;
}

/** The events of a batch's updates: coins, tokens and archives as rows of numbers with their texts and values, the few others as objects. */
export interface EventColumns {
  readonly rows: Float64Array;
  /** Of an archive the contract id; of a coin also its owner and `extra`, of a token owner, `extra`, provider and account id. */
  readonly texts: readonly (string | null)[];
  /** Of a coin its amount, rate, round and expiry; of a token its amount. */
  readonly values: readonly (bigint | number)[];
  readonly origins: readonly (CoinOrigin | TokenOrigin)[];
  readonly others: readonly (NewRound | UncountedCreate | UncountedHolding)[];
}

/** The columns of an event's row. The next four number entries of their lists, TEXT of `others` where KIND is 0. */
const [KIND, TEXT, VALUE, ORIGIN, ITEM, ID_HASH, CREATED_AT, NODE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
export const EVENT_COLUMNS = NODE + 1;
/** The entity of a coin or an archive. Its kind is COIN, DIFFERING or ARCHIVE plus the index of its entity. */
const ENTITY_OF: readonly ArchivedContract['entity'][] = [
  ...(Object.keys(TEMPLATES) as Entity[]),
  null,
  'other template',
  'other package',
];
/** DIFFERING: of a coin whose views differ. TOKEN: plus 1 where it is locked, plus 2 where it is of another package. */
const [OTHER, COIN, ARCHIVE, DIFFERING, TOKEN] = [0, 10, 20, 30, 40] as const;

export class EventList {
  readonly numbers: number[] = [];
  readonly texts: (string | null)[] = [];
  readonly values: (bigint | number)[] = [];
  readonly origins: (CoinOrigin | TokenOrigin)[] = [];
  readonly others: (NewRound | UncountedCreate | UncountedHolding)[] = [];
  /** A character for each byte. */
  readonly items: string[] = [];
  /** The numbers of origins of tokens, of which anyone may make many. */
  readonly #tokenOrigins = new Map<string, number>();

  add(event: LedgerEvent, migrationId: number): void {
    const { contractId } = event;
    const idHash = contractIdHash(contractId, migrationId);
    if (event.kind === 'archive') {
      const item = this.items.push(itemOf(archivedLine(contractId))) - 1;
      return this.#addArchive(event.entity, { contractId, idHash }, item);
    }
    // Most are of contracts that are no tokens: the writer computes the items of those that are.
    if (event.kind === 'other archive') return this.#addArchive(event.ignoredAs, { contractId, idHash }, -1);
    if (event.kind === 'holding') return this.#addHolding(event, { contractId, idHash });
    const { kind: entity, dso, signatories, body } = event;
    if (signatories instanceof BadUpdate || body instanceof BadUpdate || !signatories.includes(dso)) {
      const bad =
        signatories instanceof BadUpdate ? signatories : signatories.includes(dso) ? (body as BadUpdate) : null;
      this.#addOther({ kind: 'uncounted', entity, dso, contractId, idHash, fault: bad?.fault ?? null });
    } else if ('owner' in body) this.#addCoin(body, { dso, contractId, idHash });
    else this.#addOther({ kind: 'OpenMiningRound', dso, contractId, idHash, round: body });
  }

  #addArchive(entity: ArchivedContract['entity'], { contractId, idHash }: OfContract, item: number): void {
    this.numbers.push(ARCHIVE + ENTITY_OF.indexOf(entity), this.texts.push(contractId) - 1, 0, 0, item, idHash, 0, 0);
  }

  #addOther(event: EventColumns['others'][number]): void {
    this.numbers.push(OTHER, this.others.push(event) - 1, 0, 0, 0, 0, 0, 0);
  }

  #addCoin(coin: Coin, { dso, contractId, idHash }: OfContract & { readonly dso: string }): void {
    const { entity, owner, amount, rate, round, createdAt, node, extra, templateId, packageName } = coin;
    const origin = numberIn(
      this.origins,
      { dso, templateId, packageName },
      (known) =>
        'dso' in known && known.dso === dso && known.templateId === templateId && known.packageName === packageName,
    );
    const kind = (coin.viewDiffers === true ? DIFFERING : COIN) + ENTITY_OF.indexOf(entity);
    const text = this.texts.push(contractId, owner, extra) - 3;
    const value = this.values.push(amount, rate, round, expiryOf({ amount, rate, createdRound: round })) - 4;
    const item = this.items.push(itemOf(createdLine(coin, contractId))) - 1;
    this.numbers.push(kind, text, value, origin, item, idHash, createdAt, node);
  }

  #addHolding(create: HoldingCreate, { contractId, idHash }: OfContract): void {
    const { view, signatories, observers, templateId, packageName, ignoredAs, createdAt, node } = create;
    const { admin, instrument } = view;
    const isCounterfeit = admin !== undefined && !signatories.includes(admin);
    if (isCounterfeit || 'reason' in view) {
      const stakeholders = [...new Set([...signatories, ...observers])].sort();
      const unreadable = isCounterfeit
        ? null
        : { templateId, stakeholders, ...(view as typeof view & { reason: string }) };
      return this.#addOther({ kind: 'uncounted holding', contractId, idHash, ignoredAs, unreadable });
    }
    const { accountId, amount, locked, lockExpiresAt } = view;
    const [owner, provider] = [view.owner ?? '', view.provider ?? ''];
    const key = JSON.stringify([admin, instrument, templateId, packageName]);
    let origin = this.#tokenOrigins.get(key);
    if (origin === undefined) {
      origin = this.origins.push({ admin: view.admin, instrument: view.instrument, templateId, packageName }) - 1;
      this.#tokenOrigins.set(key, origin);
    }
    const kind = TOKEN + (locked ? 1 : 0) + (ignoredAs === 'other package' ? 2 : 0);
    const text = this.texts.push(contractId, owner, lockExpiresAt?.toString() ?? null, provider, accountId) - 5;
    const value = this.values.push(amount) - 1;
    const line = tokenLine({ ...view, owner, provider, locked, createdAt }, contractId);
    const item = this.items.push(itemOf(line)) - 1;
    this.numbers.push(kind, text, value, origin, item, idHash, createdAt, node);
  }
}

/** The number of a value in a list, where it is added if new. */
export function numberIn<Value>(list: Value[], value: Value, isIt: (known: Value) => boolean): number {
  const number = list.findIndex(isIt);
  return number === -1 ? list.push(value) - 1 : number;
}

export function eventAt({ rows, texts, values, origins, others }: EventColumns, index: number): ContractEvent {
  const row = index * EVENT_COLUMNS;
  const [kind, text, value] = [rows[row + KIND]!, rows[row + TEXT]!, rows[row + VALUE]!];
  if (kind === OTHER) return others[text]!;
  const [contractId, idHash, item] = [texts[text]!, rows[row + ID_HASH]!, rows[row + ITEM]!];
  if (kind >= ARCHIVE && kind < DIFFERING)
    return { kind: 'archive', entity: ENTITY_OF[kind - ARCHIVE]!, contractId, idHash, item };
  const [origin, createdAt, node] = [origins[rows[row + ORIGIN]!]!, rows[row + CREATED_AT]!, rows[row + NODE]!];
  const [owner, extra, amount] = [texts[text + 1]!, texts[text + 2]!, values[value] as bigint];
  if (kind < TOKEN)
    return {
      kind: ENTITY_OF[kind - (kind < DIFFERING ? COIN : DIFFERING)] as CoinEntity,
      contractId,
      idHash,
      origin: origin as CoinOrigin,
      owner,
      amount,
      rate: values[value + 1] as bigint,
      round: values[value + 2] as bigint,
      createdAt,
      node,
      extra,
      expiry: values[value + 3]!,
      item,
      viewDiffers: kind >= DIFFERING,
    };
  return {
    kind: (kind - TOKEN) % 2 === 1 ? 'locked token' : 'token',
    contractId,
    idHash,
    origin: origin as TokenOrigin,
    owner,
    amount,
    rate: 0n,
    round: 0n,
    createdAt,
    node,
    extra,
    expiry: Infinity,
    item,
    provider: texts[text + 3]!,
    accountId: texts[text + 4]!,
    ignoredAs: kind - TOKEN >= 2 ? 'other package' : 'other template',
  };
}
