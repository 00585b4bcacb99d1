import type { CoinPayload } from './history.ts';
import { plainDecimal, shortTime } from './wire-text.ts';

/** What a registry says of a holding, before it is written as the views of one contract. */
export interface HoldingTerms {
  readonly admin: string;
  readonly instrument: string;
  /** Null: an account without owner. */
  readonly owner: string | null;
  readonly provider: string | null;
  readonly accountId: string;
  /** 1e-10 units */
  readonly amount: bigint;
  readonly lock: HoldingLock | null;
}

/** As the view has it. */
export interface HoldingLock {
  readonly holders: readonly string[];
  readonly expiresAt: string | null;
  readonly expiresAfter: { readonly microseconds: string } | null;
  readonly context: string | null;
}

export type HoldingVersion = 'V1' | 'V2';

export interface InterfaceView {
  readonly interfaceId: string;
  readonly viewStatus?: { readonly code: number; readonly message: string; readonly details: readonly unknown[] };
  readonly implementationPackageId: string;
  readonly viewValue: Readonly<Record<string, unknown>> | null;
}

/** How version 1 names an account without owner. */
const NO_OWNER = `cip-112_no-owner::1220${'0'.repeat(60)}abcd`;

export function holdingView(version: HoldingVersion, terms: HoldingTerms): InterfaceView {
  const { admin, instrument, owner, provider, accountId, amount, lock } = terms;
  const account = {
    ...(provider === null ? {} : { 'cip-112/account.provider': provider }),
    ...(accountId === '' ? {} : { 'cip-112/account.id': accountId }),
  };
  const values = { 'registry.example/memo': 'ü', ...(version === 'V1' ? account : {}) };
  return {
    interfaceId: `${version === 'V1' ? '718a0f' : '52e1c9'}:Splice.Api.Token.Holding${version}:Holding`,
    viewStatus: { code: 0, message: '', details: [] },
    implementationPackageId: '0b3f41',
    viewValue: {
      ...(version === 'V1' ? { owner: owner ?? NO_OWNER } : { account: { owner, provider, id: accountId } }),
      instrumentId: { admin, id: instrument },
      amount: plainDecimal(amount),
      lock,
      meta: { values },
    },
  };
}

/** A participant that knows both versions prints version 1 first. */
export function holdingViews(versions: readonly HoldingVersion[], terms: HoldingTerms): InterfaceView[] {
  return versions.map((version) => holdingView(version, terms));
}

/** The views that Amulet and LockedAmulet implement. */
export function coinViews({ dso, owner, amount, lock }: CoinPayload): InterfaceView[] {
  const { holders = [], expiresAt = 0, context = null } = lock ?? {};
  const shown = lock && { holders, expiresAt: shortTime(expiresAt), expiresAfter: null, context };
  const account = { owner, provider: null, accountId: '' };
  return holdingViews(['V1', 'V2'], { admin: dso, instrument: 'Amulet', ...account, amount, lock: shown });
}
