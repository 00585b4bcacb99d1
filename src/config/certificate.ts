import { X509Certificate } from 'node:crypto';
import { readNamed } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { optionName, type SettingKey } from './settings.ts';

/** TLS accepts any file of authorities, and with a wrong one silently trusts none. */
export function certificateOf(key: SettingKey, file: string | undefined): string | null {
  if (file === undefined) return null;
  const pem = readNamed(optionName(key), file).toString();
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
