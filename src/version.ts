import { readFileSync } from 'node:fs';

/** The package's version; package.json is one folder above both `src` and `dist`. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
