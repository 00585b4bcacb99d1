import { readFileSync } from 'node:fs';

/** The package's version; the file stands one folder above both `src` and `dist`. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
