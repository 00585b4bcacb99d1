import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openUsers } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
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

/** The backup as an earlier program wrote it, except for what `change` makes of it. */
function withoutSeal(change: (db: Database) => void = () => {}): Buffer {
  writeFileSync(folder.at('earlier'), whole.subarray(0, -SEAL_BYTES));
  const db = new DatabaseFile(folder.at('earlier'));
  db.exec('ALTER TABLE backup_file DROP COLUMN sha256; UPDATE backup SET format = 1;');
  change(db);
  db.close();
  return readFileSync(folder.at('earlier'));
}

function withUsers(change: (bytes: Buffer) => Buffer): (db: Database) => void {
  return (db) => {
    const bytes = db.prepare<[], Buffer>(`SELECT bytes FROM backup_file WHERE name = 'users.db'`).pluck().get()!;
    db.prepare(`UPDATE backup_file SET bytes = ? WHERE name = 'users.db'`).run(change(bytes));
  };
}

describe('a backup that is altered', () => {
  it('in its users is refused: a right over another party is none that anybody gave', async () => {
    await expectRefused(
      replaced(whole, VICTIM, 'victim2::1220aa'),
      /: users\.db in it is altered since it was written/,
    );
  });

  it('in its token secret is refused', async () => {
    const other = secret.replace(/^../, (start) => (start === 'AA' ? 'BB' : 'AA'));
    await expectRefused(replaced(whole, secret, other), /: token-secret in it is altered/);
  });

  it('in its views is refused, even where no page is damaged', async () => {
    const db = new DatabaseFile(folder.at('whole'), { readonly: true });
    const party = db.prepare<[], string>('SELECT party FROM owner WHERE length(party) > 9 LIMIT 1').pluck().get()!;
    db.close();
    const other = `${party.slice(0, -1)}${party.endsWith('0') ? '1' : '0'}`;
    await expectRefused(replaced(whole, party, other), /: the views in it, or its hash, are altered/);
  });

  it('in any one byte is refused', async () => {
    const random = createRandom(4);
    for (let times = 0; times < 40; times++) {
      const at = times < 10 ? random.below(100) : random.below(whole.length);
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ (1 << random.below(8));
      await expectRefused(bytes, /: .* (altered since|cut off or damaged)/);
    }
  });

  it('in a page is refused', async () => {
    const bytes = Buffer.concat([whole.subarray(0, 8192), Buffer.alloc(65_536, 7), whole.subarray(73_728)]);
    await expectRefused(bytes, / (altered since|cut off or damaged)/);
  });
});

describe('a backup that is cut', () => {
  const cuts = [1, 50, SEAL_BYTES, 90, 200, 4_000, 4_096 + SEAL_BYTES, 30_000];

  it.each(cuts)('by %i bytes is no whole backup', async (bytes) => {
    await expectRefused(
      whole.subarray(0, -bytes),
      /backup is cut off or damaged, so no complete backup \(its last .* missing\)/,
    );
  });

  it.each([1, 100, 4_095, 4_096, 30_000])('by %i bytes is none where an earlier program wrote it', async (bytes) => {
    await expectRefused(
      withoutSeal().subarray(0, -bytes),
      /is cut off or damaged, so no complete backup \(its last pages/,
    );
  });
});

describe('a backup of an earlier program', () => {
  it('is restored, and the operator hears what was not compared', async () => {
    const { code, stdout } = await restore(withoutSeal());
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('without a hash of its bytes') });
    expect(stdout).toContain(`\`holdfast verify --data ${target}\``);
    expect(dumpViews(target)).toEqual(dumpViews(folder.at('data')));
    expect(readdirSync(target).sort()).toEqual(['lock.db', 'lock.pid', 'token-secret', 'users.db', 'views.db']);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['damaged', (bytes) => Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0xa5)])],
    ['cut', (bytes) => bytes.subarray(0, -4_096)],
    ['empty', () => Buffer.alloc(0)],
    ['without a table', () => Buffer.alloc(4_096)],
    ['something else', () => Buffer.from('something else'.repeat(100))],
  ])('is refused where its users.db is %s', async (_, change) => {
    await expectRefused(
      withoutSeal(withUsers(change)),
      /is cut off or damaged, so no complete backup \(users\.db in it: /,
    );
  });

  it('is refused where it would write outside the directory', async () => {
    const change = (db: Database): unknown => db.exec(`INSERT INTO backup_file VALUES ('../outside', x'00')`);
    await expectRefused(withoutSeal(change), /contains a file "\.\.\/outside"/);
    expect(existsSync(folder.at('outside'))).toBe(false);
  });
});

describe('a backup of a later program', () => {
  it('is left to that one', async () => {
    const later = withoutSeal((db) => db.exec('UPDATE backup SET format = 3'));
    await expectRefused(later, /has format 3, this program reads 1 and 2: restore it with the program that wrote it/);
  });
});

it('restores every byte that a whole backup carries', async () => {
  const { code, stdout } = await restore(whole);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${target}: views.db, token-secret, users.db\n` });
  expect(dumpViews(target)).toEqual(dumpViews(folder.at('data')));
  expect((await holdfast('verify', '--data', target)).code).toBe(0);
});
