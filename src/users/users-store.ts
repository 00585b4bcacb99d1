import type { Database } from 'better-sqlite3';
import { BoundedMap } from './bounded-map.ts';
import { annotationBytes, DEFAULT_PROVIDER, type IdentityProvider, type Right, type User } from './user.ts';

/** What decides about a caller: its provider, whether it is active, and the two rights that the rules check. */
interface CallerRecord {
  readonly identityProviderId: string;
  readonly isDeactivated: boolean;
  readonly participantAdmin: boolean;
  readonly identityProviderAdmin: boolean;
}

/** Rows have 0 and 1 in place of false and true. */
type Row<Record, Bit> = { readonly [Key in keyof Record]: Record[Key] extends boolean ? Bit : Record[Key] };
/** Read with exact integers: the resource version is a 64-bit number. */
type UserRow = Row<Omit<User, 'annotations'>, bigint>;

const USER_COLUMNS = `id, coalesce(identity_provider_id, '') AS identityProviderId, primary_party AS primaryParty,
  is_deactivated AS isDeactivated, primary_party_authentication AS primaryPartyAuthentication,
  resource_version AS resourceVersion`;

/** How far users of a provider are counted for a message: there may be any number, and the count blocks all requests. */
export const USERS_COUNTED_MAX = 1_000;

/** The statements of a class that extends this can be its fields: they are prepared after the database is known. */
class OpenDatabase {
  protected readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }
}

/** Reads users.db. Calls without an await between them are of one moment: only this process writes the file. */
export class UsersReader extends OpenDatabase {
  readonly #caller = this.db.prepare<[string], Row<CallerRecord, number>>(`
      SELECT coalesce(identity_provider_id, '') AS identityProviderId, is_deactivated AS isDeactivated,
        EXISTS (SELECT 1 FROM user_right r WHERE r.user_id = user.id AND r.kind = 'ParticipantAdmin') AS participantAdmin,
        EXISTS (SELECT 1 FROM user_right r WHERE r.user_id = user.id AND r.kind = 'IdentityProviderAdmin')
          AS identityProviderAdmin
      FROM user WHERE id = ?`);
  readonly #user = this.db.prepare<[string], UserRow>(`SELECT ${USER_COLUMNS} FROM user WHERE id = ?`).safeIntegers();
  readonly #annotations = this.db
    .prepare<[string], [string, string]>('SELECT name, value FROM user_annotation WHERE user_id = ? ORDER BY name')
    .raw();

  caller(userId: string): CallerRecord | null {
    const row = this.#caller.get(userId);
    if (row === undefined) return null;
    return {
      identityProviderId: row.identityProviderId,
      isDeactivated: row.isDeactivated === 1,
      participantAdmin: row.participantAdmin === 1,
      identityProviderAdmin: row.identityProviderAdmin === 1,
    };
  }

  user(id: string): User | null {
    const row = this.#user.get(id);
    return row === undefined ? null : this.#userOf(row);
  }

  /** Users of one identity provider with ids after `after`, by byte value; the annotations of each are read as the caller takes it. */
  *usersAfter(query: { identityProviderId: string; after: string; size: number }): Generator<User> {
    const provider = query.identityProviderId === DEFAULT_PROVIDER ? null : query.identityProviderId;
    const page = this.db.prepare<unknown[], UserRow>(`
      SELECT ${USER_COLUMNS} FROM user WHERE identity_provider_id IS ? AND id > ? ORDER BY id LIMIT ?`);
    for (const row of page.safeIntegers().all(provider, query.after, query.size)) yield this.#userOf(row);
  }

  #userOf(row: UserRow): User {
    return {
      ...row,
      isDeactivated: row.isDeactivated === 1n,
      primaryPartyAuthentication: row.primaryPartyAuthentication === 1n,
      annotations: new Map(this.#annotations.all(row.id)),
    };
  }

  rights(userId: string): readonly Right[] {
    const sql = 'SELECT kind, party FROM user_right WHERE user_id = ? ORDER BY kind, party';
    return this.db.prepare<[string], Right>(sql).all(userId);
  }

  identityProvider(id: string): IdentityProvider | null {
    return this.identityProviders().find((provider) => provider.id === id) ?? null;
  }

  identityProviderOfIssuer(issuer: string): IdentityProvider | null {
    return this.identityProviders().find((provider) => provider.issuer === issuer) ?? null;
  }

  /** By id; at most IDENTITY_PROVIDERS_MAX of them. */
  identityProviders(): readonly IdentityProvider[] {
    const sql =
      'SELECT id, is_deactivated AS isDeactivated, issuer, jwks_url AS jwksUrl, audience FROM identity_provider ORDER BY id';
    const rows = this.db.prepare<[], Row<IdentityProvider, number>>(sql).all();
    return rows.map((row) => ({ ...row, isDeactivated: row.isDeactivated === 1 }));
  }

  /** Counts at most to one more than USERS_COUNTED_MAX. */
  usersOfProvider(id: string): number {
    const some = `SELECT 1 FROM user WHERE identity_provider_id = ? LIMIT ${USERS_COUNTED_MAX + 1}`;
    return this.db.prepare<[string], number>(`SELECT count(*) FROM (${some})`).pluck().get(id)!;
  }
}

/** Few enough to need little memory, enough for the users that are active at one time. */
const USERS_MAX = 10_000;
/** A user with more annotations than this is read again each time: sizes are bounded as well as counts. */
const ANNOTATION_BYTES_MAX = 2_048;

/**
 * A reader that caches what it has read until the next change of anything: `forget` is called with every committed
 * transaction, before it is answered. Only this process writes the file, so what is cached is what is stored.
 */
export class RememberingReader extends UsersReader {
  readonly #callers = new BoundedMap<string, CallerRecord>(USERS_MAX);
  readonly #users = new BoundedMap<string, User>(USERS_MAX);
  #providers: readonly IdentityProvider[] | null = null;

  override caller(userId: string): CallerRecord | null {
    const known = this.#callers.get(userId);
    if (known !== undefined) return known;
    const record = super.caller(userId);
    if (record !== null) this.#callers.set(userId, record);
    return record;
  }

  override user(id: string): User | null {
    const known = this.#users.get(id);
    if (known !== undefined) return known;
    const user = super.user(id);
    if (user !== null && annotationBytes(user.annotations) <= ANNOTATION_BYTES_MAX) this.#users.set(id, user);
    return user;
  }

  override identityProviders(): readonly IdentityProvider[] {
    this.#providers ??= super.identityProviders();
    return this.#providers;
  }

  forget(): void {
    this.#callers.clear();
    this.#users.clear();
    this.#providers = null;
  }
}

/** Changes users.db. Only available in a transaction of `Users.write`, beside which preparing a statement takes no time. */
export class UsersWriter extends UsersReader {
  /** How many users there are: counted once, because a count reads all of them. A rollback resets it. */
  userCount = this.db.prepare<[], number>('SELECT count(*) FROM user').pluck().get()!;
  // A request may change many rights and annotations.
  readonly #insertRight = this.db.prepare('INSERT OR IGNORE INTO user_right VALUES (?, ?, ?)');
  readonly #deleteRight = this.db.prepare('DELETE FROM user_right WHERE user_id = ? AND kind = ? AND party = ?');
  readonly #insertAnnotation = this.db.prepare('INSERT INTO user_annotation VALUES (?, ?, ?)');

  #run(sql: string, values: unknown): number {
    return this.db.prepare(sql).run(values).changes;
  }

  insertUser(user: User): void {
    this.#run(
      `INSERT INTO user VALUES
        (:id, :identityProviderId, :primaryParty, :isDeactivated, :primaryPartyAuthentication, :resourceVersion)`,
      userValues(user),
    );
    this.userCount += 1;
    this.#insertAnnotations(user);
  }

  /** Writes the user without its annotations. */
  updateUser(user: User): void {
    this.#run(
      `UPDATE user SET identity_provider_id = :identityProviderId, primary_party = :primaryParty,
        is_deactivated = :isDeactivated, primary_party_authentication = :primaryPartyAuthentication,
        resource_version = :resourceVersion WHERE id = :id`,
      userValues(user),
    );
  }

  /** Deletes its rights and annotations too. */
  deleteUser(id: string): void {
    this.userCount -= this.#run('DELETE FROM user WHERE id = ?', id);
  }

  replaceAnnotations(user: User): void {
    this.#run('DELETE FROM user_annotation WHERE user_id = ?', user.id);
    this.#insertAnnotations(user);
  }

  #insertAnnotations({ id, annotations }: User): void {
    for (const [name, value] of annotations) this.#insertAnnotation.run(id, name, value);
  }

  grantRight(userId: string, { kind, party }: Right): void {
    this.#insertRight.run(userId, kind, party);
  }

  revokeRight(userId: string, { kind, party }: Right): void {
    this.#deleteRight.run(userId, kind, party);
  }

  insertIdentityProvider(provider: IdentityProvider): void {
    const sql = 'INSERT INTO identity_provider VALUES (:id, :isDeactivated, :issuer, :jwksUrl, :audience)';
    this.#run(sql, providerValues(provider));
  }

  updateIdentityProvider(provider: IdentityProvider): void {
    this.#run(
      `UPDATE identity_provider SET is_deactivated = :isDeactivated, issuer = :issuer, jwks_url = :jwksUrl,
        audience = :audience WHERE id = :id`,
      providerValues(provider),
    );
  }

  deleteIdentityProvider(id: string): void {
    this.#run('DELETE FROM identity_provider WHERE id = ?', id);
  }
}

function userValues({ annotations: _, ...user }: User): Record<string, unknown> {
  return {
    ...user,
    identityProviderId: user.identityProviderId === DEFAULT_PROVIDER ? null : user.identityProviderId,
    isDeactivated: Number(user.isDeactivated),
    primaryPartyAuthentication: Number(user.primaryPartyAuthentication),
  };
}

function providerValues(provider: IdentityProvider): Record<string, unknown> {
  return { ...provider, isDeactivated: Number(provider.isDeactivated) };
}
