import { once } from 'node:events';
import { statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { readCsv } from '../../support/http/read-csv.ts';
import { type Service, startService } from '../../support/http/service.ts';
import { asTexts, type Row, readTable } from '../../support/http/table-pages.ts';
import { makeLargeDirectory } from '../../support/program/large-directory.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';

const V1 = '/holdfast/v1';
const folder = temporaryDirectory();
let dataDir = '';
let service: Service;
let url = '';
beforeAll(async () => {
  dataDir = await makeLargeDirectory(folder);
  service = await startService(['--data', dataDir]);
  url = String((await service.program.logged('listening')).url);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** All rows as JSON, page by page. */
async function rowsOf(target: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page = readTable(await (await fetch(`${url}${V1}/${target}&limit=1000${next && `&after=${next}`}`)).text());
    rows.push(...page.rows);
    next = page.next;
  }
  return rows;
}

/** Waits for the head of an answer and takes nothing of its body yet. */
async function begin(target: string): Promise<IncomingMessage> {
  const [response] = (await once(get(`${url}${V1}/${target}`), 'response')) as [IncomingMessage];
  return response;
}

async function rest(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

describe('the rows of all pages in one answer', () => {
  test.each([
    ['owners?migration_id=0', 2_000],
    ['top?migration_id=0&by=locked', 2_000],
    ['snapshots?migration_id=0&every=10s', 1_799],
    // Of 500 owners in one update.
    ['movements?migration_id=0', 2_000],
  ])('of %s are those of the pages', async (target, count) => {
    const response = await begin(`${target}&limit=all&format=csv`);
    expect(response.headers['transfer-encoding']).toBe('chunked');
    expect(response.headers.link).toBeUndefined();
    const { rows } = readCsv(await rest(response));
    expect(rows).toHaveLength(count);
    expect(rows).toEqual((await rowsOf(target)).map(asTexts));
  });

  test('begin behind a token', async () => {
    const page = readTable(await (await fetch(`${url}${V1}/owners?migration_id=0&limit=999`)).text());
    const { rows } = readCsv(await rest(await begin(`owners?limit=all&format=csv&after=${page.next}`)));
    expect(rows).toHaveLength(1_001);
    expect(rows[0]!.party_id! > String(page.rows.at(-1)!.party_id)).toBe(true);
  });

  test('have a tag by which they are not sent again, and another one than the rows of other snapshots', async () => {
    const tags = new Set<string>();
    for (const time of ['2025-02-12T02:00:00Z', '2025-02-12T02:00:01Z']) {
      const target = `${url}${V1}/owners?migration_id=0&record_time=${time}&limit=all&format=csv`;
      const first = await fetch(target);
      tags.add(first.headers.get('etag')!);
      expect(first.headers.get('cache-control')).toContain('immutable');
      await first.arrayBuffer();
      const again = await fetch(target, { headers: { 'if-none-match': first.headers.get('etag')! } });
      expect(again.status).toBe(304);
      expect((await fetch(target, { method: 'HEAD' })).headers.get('etag')).toBe(first.headers.get('etag'));
    }
    expect(tags.size).toBe(2);
  });

  test('wait for a slow client without a transaction, and others do not wait for it', async () => {
    const slow = await Promise.all(
      Array.from({ length: 6 }, () => begin('snapshots?migration_id=0&limit=all&format=csv')),
    );
    const quick = await service.ask(`${V1}/top?limit=1`);
    expect(quick.status).toBe(200);
    const db = new Database(join(dataDir, 'views.db'), { timeout: 60_000 });
    // Something to be put away, and then all of the log at once: nobody reads what is in it.
    db.prepare('UPDATE dead_letter SET created_at = created_at + 1 WHERE id = 1').run();
    expect(statSync(join(dataDir, 'views.db-wal')).size).toBeGreaterThan(0);
    expect(db.pragma('wal_checkpoint(TRUNCATE)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    db.close();
    for (const response of slow) expect((await rest(response)).split('\r\n')).toHaveLength(18_001);
  });

  test('break off where they cannot be read on, which the log says', async () => {
    const holdings = openHoldings(dataDir);
    const response = await holdings.app.request(`${V1}/snapshots?migration_id=0&limit=all&format=csv`);
    const reader = response.body!.getReader();
    await reader.read();
    holdings[Symbol.dispose]();
    await expect(reader.read()).rejects.toThrow('not open');
    expect(holdings.log.join()).toContain('an answer in parts was broken off');
  });
});
