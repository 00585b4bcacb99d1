import { annotationBytes } from '../annotations.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { IdentityProvider, User } from '../user.ts';
import { type CallerRecord, UsersReader } from './users-reader.ts';

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
