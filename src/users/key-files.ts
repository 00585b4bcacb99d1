import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Refusal } from '../refusal.ts';
import type { PublicKeyAlgorithm } from './tokens/auth-service.ts';
import { fitsAlgorithm, RSA_BITS_MIN } from './tokens/key-set.ts';

/** Where a file was named: the setting's key for messages, and the folder where its relative path starts. */
interface FileSetting {
  readonly key: string;
  readonly folder: string;
}

const KEY_EXPECTED = {
  RS256: `an RSA key of at least ${RSA_BITS_MIN} bits`,
  ES256: 'a key on the curve P-256',
  ES512: 'a key on the curve P-521',
} as const;

/** The secret's bytes: the text given, or those of a file without one newline at the end. */
export function readSecret(given: string | { readonly file: string }, setting: FileSetting): Uint8Array {
  const secret = typeof given === 'string' ? Buffer.from(given) : withoutNewline(readFile(given.file, setting));
  if (secret.length === 0) throw new Refusal(`${setting.key}: the secret is empty`);
  return new Uint8Array(secret);
}

function withoutNewline(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}

/** The public key of a PEM certificate or PEM public key. One that the algorithm cannot use is refused at the start. */
export function readPublicKey(
  file: string,
  { algorithm, ...setting }: FileSetting & { readonly algorithm: PublicKeyAlgorithm },
): KeyObject {
  const pem = readFile(file, setting).toString('utf8');
  const key = parsePem(pem);
  if (key === null)
    throw new Refusal(`${setting.key}: ${file} contains neither a PEM certificate nor a PEM public key`);
  if (!fitsAlgorithm(key, algorithm))
    throw new Refusal(`${setting.key}: ${file} does not fit ${algorithm}, expected ${KEY_EXPECTED[algorithm]}`);
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

function readFile(file: string, { key, folder }: FileSetting): Buffer {
  try {
    return readFileSync(resolve(folder, file));
  } catch (error) {
    throw new Refusal(`${key}: cannot read ${resolve(folder, file)}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  }
}
