import { dirname, resolve } from 'node:path';
import { withoutExcerpt } from '../json/parse-error.ts';
import { isObject } from '../json/untrusted.ts';
import { readNamed } from '../named-file.ts';
import { Refusal } from '../refusal.ts';

export interface ConfigurationFile {
  /** Its path as given, for messages. */
  readonly name: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Reads the JSON of `--config`; throws a Refusal where it cannot be read or is no JSON object. */
export function readConfigurationFile(name: string): ConfigurationFile {
  const values = parseObject(name, readNamed('--config', name).toString());
  return { name, folder: dirname(resolve(name)), values };
}

function parseObject(name: string, text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal(`--config: ${name} is not JSON: ${withoutExcerpt(error as Error)}`, { cause: error });
  }
  if (!isObject(value)) throw new Refusal(`--config: ${name} must contain one JSON object, such as {"port": 8080}`);
  return value;
}
