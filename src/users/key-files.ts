import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readNamed } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import type { PublicKeyAlgorithm } from './tokens/auth-service.ts';
import { fitsAlgorithm, RSA_BITS_MIN } from './tokens/key-set.ts';

const KEY_EXPECTED = {
  RS256: `an RSA key of at least ${RSA_BITS_MIN} bits`,
  ES256: 'a key on the curve P-256',
  ES512: 'a key on the curve P-521',
} as const;

/**
 * The public key of a PEM certificate or PEM public key, in the file that the setting `name` names. One that the algorithm
 * cannot use is refused at the start.
 */
export function readPublicKey(name: string, file: string, algorithm: PublicKeyAlgorithm): KeyObject {
  const key = parsePem(readNamed(name, file).toString());
  if (key === null) throw new Refusal(`${name}: ${file} contains neither a PEM certificate nor a PEM public key`);
  if (!fitsAlgorithm(key, algorithm))
    throw new Refusal(`${name}: ${file} does not fit ${algorithm}, expected ${KEY_EXPECTED[algorithm]}`);
  return key;
}

/** A private key is refused, although a public one could be derived: it does not belong on this machine. */
function parsePem(pem: string): KeyObject | null {
  try {
    if (pem.includes('PRIVATE KEY-----')) return null;
    return pem.includes('-----BEGIN CERTIFICATE-----') ? new X509Certificate(pem).publicKey : createPublicKey(pem);
  } catch {
    return null;
  }
}
