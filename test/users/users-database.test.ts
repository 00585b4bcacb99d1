import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import { localService } from '../../src/users/local-secret.ts';
import { openUsers, type Users } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { migrate } from '../../src/users/users-schema.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { onTransaction } from '../support/users/on-transaction.ts';

const directory = freshDirectory();

/** PRAGMA synchronous: a commit waits for the disk. */
const FULL = 2;

const at = (name: string): string => directory.at(`data/${name}`);

function open(ledger: object = {}, participantId: string | null = null): Users {
  const config = parseUsersConfig({ value: ledger, folder: directory.path });
  return openUsers({ dataDir: directory.at('data'), config, participantId, logger: pino({ level: 'silent' }) });
}

const user = (id: string) => ({
  id,
  primaryParty: '',
  isDeactivated: false,
  primaryPartyAuthentication: false,
  identityProviderId: '',
  resourceVersion: 0n,
  annotations: new Map([['k', 'v']]),
});

describe('users.db', () => {
  it('starts with the administrator, a participant id and a secret of its own, for its owner only', () => {
    using users = open();
    expect(users.reader.user('participant_admin')).toMatchObject({ resourceVersion: 0n, identityProviderId: '' });
    expect(users.reader.rights('participant_admin')).toEqual([{ kind: 'ParticipantAdmin', party: '' }]);
    expect(users.participantId).toMatch(/^participant1::1220[0-9a-f]{64}$/);
    const mode = (name: string): number => statSync(at(name)).mode & 0o777;
    expect([mode('.'), mode('users.db'), mode('users.db-wal'), mode('token-secret')]).toEqual([
      0o700, 0o600, 0o600, 0o600,
    ]);
    expect(readFileSync(at('token-secret'), 'utf8')).toMatch(/^[A-Za-z0-9_-]{64}\n$/);
  });

  it('keeps its participant id, its secret and what was changed', () => {
    const [first, secret] = ((): [string, string] => {
      using users = open();
      users.write((writer) => writer.deleteUser('participant_admin'));
      return [users.participantId, readFileSync(at('token-secret'), 'utf8')];
    })();
    using users = open();
    expect(users.participantId).toBe(first);
    expect(readFileSync(at('token-secret'), 'utf8')).toBe(secret);
    expect(users.reader.user('participant_admin')).toBeNull();
  });

  it('knows how many users there are, whatever was undone', () => {
    const count = (users: Users): number => users.write((writer) => writer.userCount);
    {
      using users = open();
      for (const id of ['a', 'b']) users.write((writer) => writer.insertUser(user(id)));
      expect(count(users)).toBe(3);
      const undone = (): void =>
        users.write((writer) => {
          writer.insertUser(user('c'));
          writer.deleteUser('a');
          writer.deleteUser('b');
          throw new Error('undone');
        });
      expect(undone).toThrow('undone');
      expect(count(users)).toBe(3);
      for (const id of ['a', 'nobody']) users.write((writer) => writer.deleteUser(id));
      expect(count(users)).toBe(2);
    }
    using users = open();
    expect(count(users)).toBe(2);
  });

  it('takes a participant id that is given, and forgets it with the next start', () => {
    using given = open({}, 'ours::1220');
    expect(given.participantId).toBe('ours::1220');
    given[Symbol.dispose]();
    using users = open();
    expect(users.participantId).toMatch(/^participant1::/);
  });

  it('makes no secret where a service is configured', () => {
    using _ = open({ authServices: [{ type: 'unsafe-jwt-hmac-256', secret: 'x' }] });
    expect(() => statSync(at('token-secret'))).toThrow(/ENOENT/);
  });

  it('refuses a secret that is too short to be one of its own', () => {
    open()[Symbol.dispose]();
    writeFileSync(at('token-secret'), 'short\n');
    expect(() => open()).toThrow(Refusal);
    expect(() => open()).toThrow(/token-secret has fewer than 32 bytes/);
  });

  it('takes the bytes of a secret that was put there by hand, also where they are no text, and closes it to others', () => {
    open()[Symbol.dispose]();
    const secret = Buffer.from(Array.from({ length: 40 }, (_, n) => 200 + n));
    writeFileSync(at('token-secret'), Buffer.concat([secret, Buffer.from('\n')]));
    chmodSync(at('token-secret'), 0o644);
    expect(localService(at('.')).secret).toEqual(secret);
    expect(statSync(at('token-secret')).mode & 0o777).toBe(0o600);
  });

  it('makes the additional administrator once, and leaves a user of that name alone', () => {
    const ledger = { additionalAdminUserId: 'second' };
    {
      using users = open(ledger);
      expect(users.reader.rights('second')).toEqual([{ kind: 'ParticipantAdmin', party: '' }]);
      users.write((writer) => writer.revokeRight('second', { kind: 'ParticipantAdmin', party: '' }));
    }
    using users = open(ledger);
    expect(users.reader.rights('second')).toEqual([]);
  });

  it('is written with every change on disk before it is answered', () => {
    using users = open();
    const writing: unknown[] = [];
    using _spied = onTransaction((db) => {
      writing.push([db.pragma('journal_mode', { simple: true }), db.pragma('synchronous', { simple: true })]);
    });
    users.write((writer) => writer.insertUser(user('a')));
    expect(writing).toEqual([['wal', FULL]]);
  });

  it('drops rights and annotations with their user, and keeps a provider in use', () => {
    using users = open();
    const provider = { id: 'P', isDeactivated: false, issuer: 'i', jwksUrl: 'https://p.example', audience: '' };
    users.write((writer) => {
      writer.insertIdentityProvider(provider);
      writer.insertUser({ ...user('member'), identityProviderId: 'P' });
      writer.grantRight('member', { kind: 'CanActAs', party: 'p' });
    });
    expect(() => users.write((writer) => writer.deleteIdentityProvider('P'))).toThrow(/FOREIGN KEY/);
    users.write((writer) => writer.deleteUser('member'));
    using db = disposable(new Database(at('users.db'), { readonly: true }));
    expect(db.prepare('SELECT count(*) FROM user_annotation').pluck().get()).toBe(0);
    expect(db.prepare('SELECT count(*) FROM user_right').pluck().get()).toBe(1);
    users.write((writer) => writer.deleteIdentityProvider('P'));
  });

  it('says which file it is that is no database', () => {
    open()[Symbol.dispose]();
    writeFileSync(at('users.db'), 'not a database, but long enough to be taken for one'.repeat(100));
    expect(() => open()).toThrow(/users\.db/);
  });

  it('keeps a version of 64 bits exactly', () => {
    using users = open();
    users.write((writer) => writer.insertUser({ ...user('old'), resourceVersion: 9_007_199_254_740_993n }));
    expect(users.reader.user('old')?.resourceVersion).toBe(9_007_199_254_740_993n);
  });
});

describe('migrations of users.db', () => {
  const steps = (...sql: string[]) => sql.map((text, index) => ({ name: `step ${index}`, sql: text }));
  const run = (...sql: string[]): void => {
    using db = disposable(new Database(directory.at('m.db')));
    migrate(db, { file: 'm.db', migrations: steps(...sql) });
  };
  const tables = (): unknown[] => {
    using db = disposable(new Database(directory.at('m.db')));
    return db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all();
  };

  it('are applied once, in order, what is new after what was there', () => {
    run('CREATE TABLE a (x)');
    run('CREATE TABLE a (x)', 'CREATE TABLE b (x)');
    run('CREATE TABLE a (x)', 'CREATE TABLE b (x)');
    expect(tables()).toEqual(['a', 'b', 'migration']);
  });

  it('are refused by a program that knows fewer', () => {
    run('CREATE TABLE a (x)', 'CREATE TABLE b (x)');
    expect(() => run('CREATE TABLE a (x)')).toThrow(Refusal);
    expect(() => run('CREATE TABLE a (x)')).toThrow(
      /m\.db has version 2, written by a newer holdfast; this one knows 1/,
    );
  });

  it('are refused where an applied one has changed', () => {
    run('CREATE TABLE a (x)');
    expect(() => run('CREATE TABLE a (y)')).toThrow(/migration 1 was applied in another form/);
  });

  it('are all or none', () => {
    expect(() => run('CREATE TABLE a (x)', 'CREATE nonsense')).toThrow(/syntax error/);
    expect(tables()).toEqual([]);
  });
});

function disposable(db: Database.Database): Database.Database & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() });
}
