import { contractId, packageId, party, updateId } from '../../fixtures/names.ts';
import {
  AMULET,
  COIN_PACKAGE,
  type Contract,
  type Draft,
  type Micros,
  numbered,
} from '../../test/support/ledger/history.ts';
import { ledgerApiLine } from '../../test/support/ledger/ledger-api-lines.ts';
import { createRandom } from '../../test/support/ledger/random.ts';
import { coinViews, holdingViews } from '../../test/support/ledger/wire-views.ts';

const [DSO, REGISTRY] = [party('DSO'), party('registry')];
export const OWNERS = ['aurora-bank', 'basalt-custody', 'cedar-exchange', 'delta-fund', 'ember-wallet'].map(party);

interface Instrument {
  readonly admin: string;
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

/** As `--instruments` names them. */
export const INSTRUMENTS: readonly Instrument[] = [
  { admin: DSO, id: 'Amulet', symbol: 'CC', name: 'Canton Coin', decimals: 4 },
  { admin: REGISTRY, id: 'USDCx', symbol: 'USDCx', name: 'US dollar', decimals: 2 },
  { admin: REGISTRY, id: 'CBTC', symbol: 'CBTC', name: 'Bitcoin', decimals: 8 },
];
const REGISTRY_PACKAGE = 'utility-registry-holding-v0';
const UNIT = 10_000_000_000n;
/** What a payment may be, in whole units of each instrument. */
const PAID_MAX = [5_000, 20_000, 3];
/** Holdings of an owner beyond which they are merged with the next payment. */
const HOLDINGS_MAX = 6;
const ISSUED_CHANCE = 0.15;
const LOCKED_CHANCE = 0.1;

interface Holding {
  readonly contract: Contract;
  readonly units: bigint;
}

/** A participant's ledger of three instruments: they are issued, paid and locked for a while. */
export function createInstruments() {
  const random = createRandom(11);
  const held = INSTRUMENTS.map(() => OWNERS.map((): Holding[] => []));
  let [contracts, updates] = [0, 0];

  function contractOf(instrument: number, owner: string, amount: bigint, createdAt: Micros): Contract {
    const { admin, id } = INSTRUMENTS[instrument]!;
    contracts += 1;
    const about = {
      contractId: contractId(`holding ${contracts}`),
      createdAt,
      signatories: [admin, owner],
      observers: [],
    };
    if (admin === DSO) {
      const coin = {
        kind: 'coin',
        dso: DSO,
        owner,
        amount,
        rate: 38_051_800n,
        round: 1n,
        lock: null,
        unknown: {},
      } as const;
      const templateId = `${packageId(COIN_PACKAGE)}:${AMULET}`;
      return { ...about, templateId, packageName: COIN_PACKAGE, payload: coin, views: coinViews(coin) };
    }
    const expiresAt = new Date(createdAt / 1000 + 60_000).toISOString();
    const lock = { holders: [admin], expiresAt, expiresAfter: null, context: 'settlement' };
    const terms = { admin, instrument: id, owner, provider: null, accountId: '', amount };
    const views = holdingViews(['V1'], { ...terms, lock: random.chance(LOCKED_CHANCE) ? lock : null });
    const templateId = `${packageId(REGISTRY_PACKAGE)}:Utility.Registry.Holding.V0.Holding:Holding`;
    return { ...about, templateId, packageName: REGISTRY_PACKAGE, payload: { kind: 'other', arguments: {} }, views };
  }

  function create(instrument: number, owner: number, units: bigint, at: Micros): Draft[] {
    if (units === 0n) return [];
    const contract = contractOf(instrument, OWNERS[owner]!, units, at);
    held[instrument]![owner]!.push({ contract, units });
    return [{ kind: 'create', contract, acsDelta: true }];
  }

  /** Ends so many holdings that they are worth the payment, or all where they are too many; null where they are not enough. */
  function pay(instrument: number, from: number, units: bigint, at: Micros): Draft[] | null {
    const own = held[instrument]![from]!;
    if (own.reduce((sum, each) => sum + each.units, 0n) < units) return null;
    const spent: Holding[] = [];
    for (
      let sum = 0n;
      sum < units || (own.length > HOLDINGS_MAX && spent.length < HOLDINGS_MAX);
      sum += spent.at(-1)!.units
    )
      spent.push(own.shift()!);
    const sum = spent.reduce((total, each) => total + each.units, 0n);
    const to = (from + 1 + random.below(OWNERS.length - 1)) % OWNERS.length;
    const made = [...create(instrument, to, units, at), ...create(instrument, from, sum - units, at)];
    return spent.map(({ contract }, i) => {
      const { templateId } = contract;
      return {
        kind: 'exercise',
        contract,
        templateId,
        choice: 'Archive',
        consuming: true,
        acsDelta: true,
        children: i === 0 ? made : [],
      };
    });
  }

  return {
    /** The next update as a line of format B. */
    line(at: Micros): string {
      updates += 1;
      const instrument = random.below(INSTRUMENTS.length);
      const [owner, units] = [random.below(OWNERS.length), BigInt(1 + random.below(PAID_MAX[instrument]!)) * UNIT];
      const paid = random.chance(ISSUED_CHANCE) ? null : pay(instrument, owner, units, at);
      const events = numbered(paid ?? create(instrument, owner, 3n * units, at));
      const ids = {
        updateId: updateId(`instruments ${updates}`),
        migrationId: 0,
        synchronizerId: party('global-domain'),
      };
      const times = { offset: updates, recordTime: at, effectiveAt: at };
      return ledgerApiLine({ kind: 'update', wrapping: 'transaction', ...ids, ...times, events }, 'acs-delta');
    },
  };
}
