import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Refusal } from '../refusal.ts';
import { optionName, type SettingKey } from './settings.ts';

/** The file that a setting names; `name` is the setting's in messages. Throws a Refusal where it cannot be read. */
export function readNamed(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Refusal(`${name}: cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The secret in such a file; one newline at its end is not part of it. Throws a Refusal also where it is empty. */
export function readSecret(name: string, file: string): string {
  const secret = readNamed(name, file).replace(/\r?\n$/, '');
  if (secret === '') throw new Refusal(`${name}: ${file} is empty`);
  return secret;
}

/** TLS accepts any file of authorities, and with a wrong one silently trusts none. */
export function certificateOf(key: SettingKey, file: string | undefined): string | null {
  if (file === undefined) return null;
  const pem = readNamed(optionName(key), file);
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw unusable(key, `${file} contains no PEM certificate`, error);
  }
  return pem;
}

export function unusable(key: SettingKey, what: string, error: unknown): Refusal {
  return new Refusal(`${optionName(key)}: ${what} (${(error as Error).message})`, { cause: error });
}
