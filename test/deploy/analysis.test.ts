import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldings } from '../support/http/holdings-service.ts';
import { allRows } from '../support/http/table-pages.ts';
import { MAIN } from '../support/program/program.ts';
import { programEnv } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'deploy/analysis/README.md'), 'utf8');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block!);

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const said: string[] = [];

/** The shell of SQLite where there is none: another SQLite, with its output. */
const SHELL = `import sqlite3, sys
for row in sqlite3.connect(sys.argv[1], uri=True).execute(sys.argv[2]): print('|'.join('' if value is None else str(value) for value in row))`;

beforeAll(async () => {
  await replayInto(folder.at('data'), [join(root, 'fixtures/story.scan.ndjson')], { seal: true });
  for (const commands of blocksOf('sh')) {
    const script = `set -e
      holdfast() { '${process.execPath}' '${MAIN}' "$@"; }
      command -v sqlite3 >/dev/null || sqlite3() { python3 -c "$SHELL_OF_PYTHON" "$@"; }
      ${commands}`;
    const env = { ...programEnv(), SHELL_OF_PYTHON: SHELL };
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.path, env, encoding: 'utf8' });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    said.push(stdout);
  }
});

describe('the page about analysis', () => {
  it('has commands that write files, and read the views', () => {
    expect(said[0]!.match(/^1 day written to lake\/(movements|totals|snapshots), \d+ rows$/gm)).toHaveLength(3);
    expect(said[1]).toMatch(/^0\|2025-02-12T01:12:00\.000000Z\|1\|/);
    expect(said[1]).toContain('\n2025-02-12T00:12:00.000000Z|out|-120.2500000000\n');
  });

  it('has queries for DuckDB that answer as the API does', async () => {
    using service = openHoldings(folder.at('data'));
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const ask = async (sql: string) => {
      const of = sql.replace(/;\s*$/, '').replaceAll("'lake/", `'${folder.at('lake')}/`);
      const reader = await duck.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM (${of})`);
      return reader.getRowObjects();
    };
    const [balances, flows] = blocksOf('sql') as [string, string];
    const [, path, at] = /(\/holdfast\/v1\/top)\?record_time=(\S+)/.exec(balances)!;
    const top = await allRows(service.app, path!, { migration_id: 0, record_time: at });
    expect(await ask(balances)).toEqual(top.map(({ party_id, total }) => ({ party_id, total })));
    expect(top.length).toBeGreaterThan(2);
    const answered = await ask(flows);
    expect(answered.length).toBeGreaterThan(2);
    for (const { party_id, received, sent } of answered) {
      const party = `/holdfast/v1/owners/${encodeURIComponent(String(party_id))}`;
      const [period] = await allRows(service.app, `${party}/statement`, { migration_id: 0, every: 'all' });
      const none = '0.0000000000';
      expect({ received: received ?? none, sent: sent ?? none }).toEqual({
        received: period!.received,
        sent: period!.sent,
      });
    }
  });
});
