import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { main } from 'assemblyscript/asc';

const FOLDER = join(import.meta.dirname, '../src/decode/partial');
const COMPILED = join(FOLDER, 'json-index-wasm.ts');
/** A fixed memory: a view of one that grows would become empty. */
const PAGES = '32';

/** The file that has the compiled bytes of src/decode/partial/wasm/json-index.ts. */
export async function jsonIndexFile(): Promise<string> {
  let compiled: Uint8Array = new Uint8Array();
  const { error, stderr } = await main(
    [
      ...['json-index.ts', '--baseDir', join(FOLDER, 'wasm'), '--outFile', 'json-index.wasm'],
      ...['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'],
      ...['--initialMemory', PAGES, '--maximumMemory', PAGES],
    ],
    {
      writeFile: (_name, contents) => {
        compiled = Buffer.from(contents);
      },
    },
  );
  if (error !== null) throw new Error(`json-index.ts cannot be compiled: ${stderr.toString()}`, { cause: error });
  const bytes = Buffer.from(compiled).toString('base64');
  return [
    '/** wasm/json-index.ts, compiled by `npm run build:wasm`; a test compares both. */',
    `export const JSON_INDEX_WASM =\n  '${bytes}';`,
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(COMPILED, await jsonIndexFile());
