import { ALICE, DSO, type Json } from './messages.ts';

export const REGISTRY = 'registry::1220ee';
export const NO_OWNER = 'cip-112_no-owner::1220abcd';
export const CREATED_AT = Date.UTC(2026, 2, 4) * 1000;
const TERMS = { instrumentId: { admin: REGISTRY, id: 'USDCx' }, amount: '1.5000000000', lock: null };
export const V1 = { ...TERMS, owner: ALICE, meta: { values: {} } };
export const V2 = { ...TERMS, account: { owner: ALICE, provider: null, id: '' }, meta: { values: {} } };
const LOCK = { holders: [DSO], expiresAt: null, expiresAfter: null, context: null };
const OK = { code: 0, message: '', details: [] };

export function view(version: 1 | 2, viewValue: unknown, viewStatus: unknown = OK): Json {
  const interfaceId = `718a0f:Splice.Api.Token.HoldingV${version}:Holding`;
  return { interfaceId, viewStatus, implementationPackageId: '0b3f41', viewValue };
}

export const v1 = (changes: Json = {}): Json => view(1, { ...V1, ...changes });
export const v2 = (changes: Json = {}): Json => view(2, { ...V2, ...changes });
export const named = (id: unknown, admin: unknown = REGISTRY): Json => ({ instrumentId: { admin, id } });
export const account = (changes: Json): Json => ({ account: { ...V2.account, ...changes } });
export const meta = (values: Json): Json => ({ meta: { values } });
export const lock = (changes: Json): Json => ({ lock: { ...LOCK, ...changes } });
export const lasting = (microseconds: unknown): Json => ({ expiresAfter: { microseconds } });
