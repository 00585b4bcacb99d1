import { createPublicKey, type KeyObject } from 'node:crypto';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import type { PublicKeyAlgorithm } from './auth-service.ts';

/** Bounds the work and memory that one provider's document can cost; the reference's limit. */
const KEYS_MAX = 1000;
/** jose refuses shorter RSA keys when it verifies. */
export const RSA_BITS_MIN = 2048;
const CURVES = { ES256: 'prime256v1', ES512: 'secp521r1' } as const;

interface Jwk {
  readonly kid: string;
  readonly algorithm: PublicKeyAlgorithm;
  /** The public members only: others in the document are never read. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The keys of one fetched document, found by `kid` and the algorithm that the key's type determines. */
export class KeySet {
  readonly #keys: ReadonlyMap<string, Jwk>;
  readonly #imported = new Map<string, KeyObject | null>();

  constructor(keys: readonly Jwk[]) {
    this.#keys = new Map(keys.map((key) => [`${key.algorithm} ${key.kid}`, key]));
  }

  /** Keys are imported when first used: a document of a thousand costs no more than the one in use. */
  key(kid: string, algorithm: PublicKeyAlgorithm): KeyObject | null {
    const name = `${algorithm} ${kid}`;
    const jwk = this.#keys.get(name);
    if (jwk === undefined) return null;
    let key = this.#imported.get(name);
    if (key === undefined) {
      key = importKey(jwk);
      this.#imported.set(name, key);
    }
    return key;
  }
}

/** The key set of a JSON document, or null where it is none. Keys of other kinds, above all symmetric ones, are left out. */
export function parseKeySet(text: string): KeySet | null {
  const document = jsonOrNull(text);
  const keys = isObject(document) ? document.keys : null;
  return Array.isArray(keys) ? new KeySet(keys.slice(0, KEYS_MAX).flatMap((key) => parseKey(key) ?? [])) : null;
}

function parseKey(value: unknown): Jwk | null {
  if (!isObject(value)) return null;
  const { kid, use, key_ops: operations, alg, kty, crv, n, e, x, y } = value;
  const algorithm = algorithmOf(kty, crv);
  if (typeof kid !== 'string' || algorithm === null) return null;
  if (use !== undefined && use !== 'sig') return null;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return null;
  if (alg !== undefined && alg !== algorithm) return null;
  return { kid, algorithm, members: kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y } };
}

function algorithmOf(kty: unknown, crv: unknown): PublicKeyAlgorithm | null {
  if (kty === 'RSA') return 'RS256';
  if (kty !== 'EC') return null;
  return crv === 'P-256' ? 'ES256' : crv === 'P-521' ? 'ES512' : null;
}

function importKey({ members, algorithm }: Jwk): KeyObject | null {
  try {
    const key = createPublicKey({ key: members, format: 'jwk' });
    return fitsAlgorithm(key, algorithm) ? key : null;
  } catch {
    return null;
  }
}

/** Whether a public key is of the kind that the algorithm needs. */
export function fitsAlgorithm(key: KeyObject, algorithm: PublicKeyAlgorithm): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (algorithm === 'RS256') return type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN;
  return type === 'ec' && details?.namedCurve === CURVES[algorithm];
}
