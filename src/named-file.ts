import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Refusal } from './refusal.ts';

/** The file that a setting names; `name` is the setting's in messages. Throws a Refusal where it cannot be read. */
export function readNamed(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Refusal(`${name}: cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The secret in such a file; one newline at its end is not part of it. Throws a Refusal also where it is empty. */
export function readSecret(name: string, file: string): Buffer {
  const bytes = readNamed(name, file);
  const newline = bytes.at(-1) !== 0x0a ? 0 : bytes.at(-2) === 0x0d ? 2 : 1;
  if (bytes.length === newline) throw new Refusal(`${name}: the secret is empty: ${file}`);
  return bytes.subarray(0, bytes.length - newline);
}

/** TLS accepts any file of authorities, and with a wrong one silently trusts none. */
export function readCertificate(name: string, file: string | null): string | null {
  if (file === null) return null;
  const pem = readNamed(name, file).toString();
  requireUsable(name, `${file} contains no PEM certificate`, () => new X509Certificate(pem));
  return pem;
}

export function requireUsable(name: string, otherwise: string, use: () => unknown): void {
  try {
    use();
  } catch (error) {
    throw new Refusal(`${name}: ${otherwise} (${(error as Error).message})`, { cause: error });
  }
}
