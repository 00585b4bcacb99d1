import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';

/** The address of the polling source's module. Threads that strip types by themselves may crash: see ../program/built.ts. */
export function writePollingKind(directory: TemporaryDirectory): string {
  const module = readFileSync(join(import.meta.dirname, 'polling-kind.ts'), 'utf8');
  return pathToFileURL(directory.writeLines('kind.mjs', [stripTypeScriptTypes(module)])).href;
}
