import type { Right } from '../right.ts';
import { DEFAULT_PROVIDER, type IdentityProvider, type User } from '../user.ts';
import { UsersReader } from './users-reader.ts';

/** Changes users.db. Only available in a transaction of `Users.write`. */
export class UsersWriter extends UsersReader {
  /** How many users there are: counted once, because a count reads all of them. A rollback resets it. */
  userCount = this.db.prepare<[], number>('SELECT count(*) FROM user').pluck().get()!;
  readonly #insertUser = this.db.prepare<Record<string, unknown>>(
    `INSERT INTO user VALUES
        (:id, :identityProviderId, :primaryParty, :isDeactivated, :primaryPartyAuthentication, :resourceVersion)`,
  );
  readonly #updateUser = this.db.prepare<Record<string, unknown>>(`
      UPDATE user SET identity_provider_id = :identityProviderId, primary_party = :primaryParty,
        is_deactivated = :isDeactivated, primary_party_authentication = :primaryPartyAuthentication,
        resource_version = :resourceVersion WHERE id = :id`);
  readonly #deleteUser = this.db.prepare<[string]>('DELETE FROM user WHERE id = ?');
  readonly #insertAnnotation = this.db.prepare<[string, string, string]>(
    'INSERT INTO user_annotation VALUES (?, ?, ?)',
  );
  readonly #deleteAnnotations = this.db.prepare<[string]>('DELETE FROM user_annotation WHERE user_id = ?');
  readonly #insertRight = this.db.prepare<[string, string, string]>(
    'INSERT OR IGNORE INTO user_right VALUES (?, ?, ?)',
  );
  readonly #deleteRight = this.db.prepare<[string, string, string]>(
    'DELETE FROM user_right WHERE user_id = ? AND kind = ? AND party = ?',
  );
  readonly #insertProvider = this.db.prepare<Record<string, unknown>>(
    'INSERT INTO identity_provider VALUES (:id, :isDeactivated, :issuer, :jwksUrl, :audience)',
  );
  readonly #updateProvider = this.db.prepare<Record<string, unknown>>(`
      UPDATE identity_provider SET is_deactivated = :isDeactivated, issuer = :issuer, jwks_url = :jwksUrl,
        audience = :audience WHERE id = :id`);
  readonly #deleteProvider = this.db.prepare<[string]>('DELETE FROM identity_provider WHERE id = ?');

  insertUser(user: User): void {
    this.#insertUser.run(userValues(user));
    this.userCount += 1;
    this.#insertAnnotations(user);
  }

  /** Writes the user without its annotations. */
  updateUser(user: User): void {
    this.#updateUser.run(userValues(user));
  }

  /** Deletes its rights and annotations too. */
  deleteUser(id: string): void {
    this.userCount -= this.#deleteUser.run(id).changes;
  }

  replaceAnnotations(user: User): void {
    this.#deleteAnnotations.run(user.id);
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
    this.#insertProvider.run(providerValues(provider));
  }

  updateIdentityProvider(provider: IdentityProvider): void {
    this.#updateProvider.run(providerValues(provider));
  }

  deleteIdentityProvider(id: string): void {
    this.#deleteProvider.run(id);
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
