import type { Database } from 'better-sqlite3';
import type { Right } from '../right.ts';
import { DEFAULT_PROVIDER, type IdentityProvider, type User } from '../user.ts';

/** What decides about a caller: its provider, whether it is active, and the two rights that the rules check. */
export interface CallerRecord {
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
  readonly #rights = this.db.prepare<[string], Right>(
    'SELECT kind, party FROM user_right WHERE user_id = ? ORDER BY kind, party',
  );
  readonly #page = this.db
    .prepare<{ provider: string | null; after: string; size: number }, UserRow>(`
      SELECT ${USER_COLUMNS} FROM user
      WHERE identity_provider_id IS :provider AND id > :after ORDER BY id LIMIT :size`)
    .safeIntegers();
  readonly #providers = this.db.prepare<[], Row<IdentityProvider, number>>(
    'SELECT id, is_deactivated AS isDeactivated, issuer, jwks_url AS jwksUrl, audience FROM identity_provider ORDER BY id',
  );
  readonly #usersOfProvider = this.db
    .prepare<[string], number>(
      `SELECT count(*) FROM (SELECT 1 FROM user WHERE identity_provider_id = ? LIMIT ${USERS_COUNTED_MAX + 1})`,
    )
    .pluck();

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
    for (const row of this.#page.all({ provider, after: query.after, size: query.size })) yield this.#userOf(row);
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
    return this.#rights.all(userId);
  }

  identityProvider(id: string): IdentityProvider | null {
    return this.identityProviders().find((provider) => provider.id === id) ?? null;
  }

  identityProviderOfIssuer(issuer: string): IdentityProvider | null {
    return this.identityProviders().find((provider) => provider.issuer === issuer) ?? null;
  }

  /** By id; at most IDENTITY_PROVIDERS_MAX of them. */
  identityProviders(): readonly IdentityProvider[] {
    return this.#providers.all().map((row) => ({ ...row, isDeactivated: row.isDeactivated === 1 }));
  }

  /** Counts at most to one more than USERS_COUNTED_MAX. */
  usersOfProvider(id: string): number {
    return this.#usersOfProvider.get(id)!;
  }
}
