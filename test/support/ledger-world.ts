import type { Users } from '../../src/users/open-users.ts';
import type { PlainKind } from '../../src/users/right.ts';
import { type RunningArea, startArea } from './ledger-area.ts';
import { type KeyServer, keyToken, makeKey, type SigningKey, secretToken, startKeyServer } from './ledger-keys.ts';

/**
 * A running area with two identity providers, X and Y, and users to ask as: `admin` and `plain` of the default
 * provider, and of X and Y an administrator (`xadmin`), a user without rights (`xplain`) and a participant admin (`xpa`).
 */
export interface World extends AsyncDisposable {
  readonly area: RunningArea;
  readonly keyServer: KeyServer;
  readonly keys: { readonly X: SigningKey; readonly Y: SigningKey };
  /** The token of a user by name; null for `nobody`; a name with dots is a token itself. */
  token(who: string): Promise<string | null>;
}

export const ISSUER = { X: 'https://x.example', Y: 'https://y.example' } as const;
type ProviderId = keyof typeof ISSUER;

export async function startWorld(ledger: Readonly<Record<string, unknown>> = {}): Promise<World> {
  const keyServer = await startKeyServer();
  const keys = { X: makeKey('ES256', 'key-x'), Y: makeKey('RS256', 'key-y') };
  const area = await startArea(ledger);
  for (const id of ['X', 'Y'] as const) {
    await keyServer.publish(`/${id}`, keys[id]);
    populate(area.users, id, `${keyServer.url}/${id}`);
  }
  insertUser(area.users, 'plain', '', null);
  const tokens = new Map<string, Promise<string>>();
  return {
    area,
    keyServer,
    keys,
    token(who) {
      if (who === 'nobody') return Promise.resolve(null);
      if (who.includes('.')) return Promise.resolve(who);
      const known = tokens.get(who) ?? makeToken(who, keys);
      tokens.set(who, known);
      return known;
    },
    async [Symbol.asyncDispose]() {
      await area[Symbol.asyncDispose]();
      await keyServer[Symbol.asyncDispose]();
    },
  };
}

function populate(users: Users, id: ProviderId, jwksUrl: string): void {
  users.write((writer) =>
    writer.insertIdentityProvider({ id, isDeactivated: false, issuer: ISSUER[id], jwksUrl, audience: '' }),
  );
  const prefix = id.toLowerCase();
  insertUser(users, `${prefix}admin`, id, 'IdentityProviderAdmin');
  insertUser(users, `${prefix}plain`, id, null);
  insertUser(users, `${prefix}pa`, id, 'ParticipantAdmin');
}

export function insertUser(users: Users, id: string, identityProviderId: string, right: PlainKind | null): void {
  users.write((writer) => {
    writer.insertUser({
      id,
      primaryParty: '',
      isDeactivated: false,
      primaryPartyAuthentication: false,
      identityProviderId,
      resourceVersion: 0n,
      annotations: new Map(),
    });
    if (right !== null) writer.grantRight(id, { kind: right, party: '' });
  });
}

function makeToken(who: string, keys: World['keys']): Promise<string> {
  if (who === 'admin') return secretToken({ sub: 'participant_admin' });
  const id = who.startsWith('x') ? 'X' : who.startsWith('y') ? 'Y' : null;
  return id === null ? secretToken({ sub: who }) : keyToken(keys[id], { sub: who, iss: ISSUER[id] });
}
