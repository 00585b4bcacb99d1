import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import DatabaseFile from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openUsers } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { sealFile } from '../../src/views/backup/file-hash.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const VICTIM = 'victim1::1220aa';
/** The last line: a word, and a SHA-256 in hex. */
const SEAL_BYTES = 89;

const NO_SEAL = /\/backup is no backup, or one that was cut off or altered: it does not end with the seal/;
const ALTERED = /\/backup was altered since it was written: use another backup/;

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
let whole = Buffer.alloc(0);
let secret = '';
let tries = 0;
let target = '';

beforeAll(async () => {
  const lines = linesOf(randomLedger(oddLedger(52, { updates: 400, migrations: 2 })), 'scan');
  await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', lines)], { chunkBytes: 50_000 });
  const config = parseUsersConfig({ value: undefined, folder: folder.path });
  const options = { dataDir: folder.at('data'), config, participantId: null, logger: pino({ level: 'silent' }) };
  {
    using users = openUsers(options);
    users.write((each) => each.grantRight('participant_admin', { kind: 'CanReadAs', party: VICTIM }));
  }
  secret = readFileSync(folder.at('data/token-secret'), 'latin1');
  await holdfast('backup', folder.at('whole'), '--data', folder.at('data'), '--with-secret');
  whole = readFileSync(folder.at('whole'));
});
beforeEach(() => {
  target = folder.at(`restored-${++tries}`);
});

function restore(bytes: Buffer): Promise<Ended> {
  writeFileSync(folder.at('backup'), bytes);
  return holdfast('restore', folder.at('backup'), '--data', target);
}

/** Refused in one line, and the directory is as empty as it was. */
async function expectRefused(bytes: Buffer, says: RegExp): Promise<void> {
  const { code, stdout, stderr } = await restore(bytes);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^holdfast: [^\n]*\n$/);
  expect(stderr).toMatch(says);
  expect(readdirSync(target)).toEqual([]);
}

function replaced(bytes: Buffer, from: string, to: string): Buffer {
  expect(bytes.includes(from)).toBe(true);
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}

/** The backup as another program would have written it, with a seal that fits. */
function sealedAgain(change: (db: Database) => void): Buffer {
  const file = folder.at('other');
  writeFileSync(file, whole.subarray(0, -SEAL_BYTES));
  const db = new DatabaseFile(file);
  change(db);
  db.close();
  sealFile(file);
  return readFileSync(file);
}

describe('a backup that is altered', () => {
  it('in its users is refused: a right over another party is none that anybody gave', async () => {
    await expectRefused(replaced(whole, VICTIM, 'victim2::1220aa'), ALTERED);
  });

  it('in its token secret is refused', async () => {
    const other = secret.replace(/^../, (start) => (start === 'AA' ? 'BB' : 'AA'));
    await expectRefused(replaced(whole, secret, other), ALTERED);
  });

  it('in its views is refused, even where no page is damaged', async () => {
    const db = new DatabaseFile(folder.at('whole'), { readonly: true });
    const party = db.prepare<[], string>('SELECT party FROM owner WHERE length(party) > 9 LIMIT 1').pluck().get()!;
    db.close();
    const other = `${party.slice(0, -1)}${party.endsWith('0') ? '1' : '0'}`;
    await expectRefused(replaced(whole, party, other), ALTERED);
  });

  it('in any one byte is refused', async () => {
    const random = createRandom(4);
    for (let times = 0; times < 40; times++) {
      const at = times < 10 ? random.below(100) : random.below(whole.length);
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ (1 << random.below(8));
      await expectRefused(bytes, at < bytes.length - SEAL_BYTES ? ALTERED : /was (altered|cut off)/);
    }
  });

  it('in a page is refused', async () => {
    const bytes = Buffer.concat([whole.subarray(0, 8192), Buffer.alloc(65_536, 7), whole.subarray(73_728)]);
    await expectRefused(bytes, ALTERED);
  });
});

describe('a backup that is cut', () => {
  const cuts = [1, 50, SEAL_BYTES, 90, 200, 4_000, 4_096 + SEAL_BYTES, 30_000];

  it.each(cuts)('by %i bytes is no whole backup', async (bytes) => {
    await expectRefused(whole.subarray(0, -bytes), NO_SEAL);
  });
});

describe('a backup of another program', () => {
  it('is refused where it would write outside the directory', async () => {
    const change = (db: Database): unknown => db.exec(`INSERT INTO backup_file VALUES ('../outside', x'00', x'00')`);
    await expectRefused(sealedAgain(change), /contains a file "\.\.\/outside"/);
    expect(existsSync(folder.at('outside'))).toBe(false);
  });

  it('is left to that one where it is a later one', async () => {
    const later = sealedAgain((db) => db.exec('UPDATE backup SET format = 3'));
    await expectRefused(later, /has format 3, this program reads 2: restore it with the program that wrote it/);
  });
});

it('of damaged views is refused, although its seal fits', async () => {
  await replayInto(folder.at('damaged'), []);
  const db = new DatabaseFile(folder.at('damaged/views.db'));
  db.exec('PRAGMA ignore_check_constraints = ON; UPDATE setting SET lock = 2;');
  db.close();
  expect(await holdfast('backup', folder.at('of-damaged'), '--data', folder.at('damaged'))).toMatchObject({ code: 0 });
  await expectRefused(
    readFileSync(folder.at('of-damaged')),
    /was made of damaged views \(CHECK constraint failed in setting\)/,
  );
});

it('restores every byte that a whole backup carries', async () => {
  const { code, stdout } = await restore(whole);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${target}: views.db, token-secret, users.db\n` });
  expect(dumpViews(target)).toEqual(dumpViews(folder.at('data')));
  expect((await holdfast('verify', '--data', target)).code).toBe(0);
});
