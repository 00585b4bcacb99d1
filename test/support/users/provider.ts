import { type RunningArea, startArea } from './area.ts';
import { type KeyServer, makeKey, type SigningKey, startKeyServer } from './keys.ts';

/** The key of the provider P, its issuer, and what a token of its member says. */
export const KEY: SigningKey = makeKey('ES256', 'one');
export const ISSUER = 'https://issuer.example';
export const CLAIMS = { sub: 'member', iss: ISSUER };

/** The users' area with an identity provider P of one member, the server of its keys, and a clock that tests set. */
export interface ProviderArea extends AsyncDisposable {
  readonly keyServer: KeyServer;
  readonly area: RunningArea;
  readonly clock: { nowMs: number };
  addProvider(id: string, issuer: string, jwksUrl: string, audience?: string): void;
  addMember(id: string, identityProviderId: string): void;
  /** How often a path of the key server was requested. */
  asked(path?: string): number;
  /** What a request with this token is answered with. */
  status(token: string | Promise<string>): Promise<number>;
}

export async function startProviderArea(ledger: Readonly<Record<string, unknown>> = {}): Promise<ProviderArea> {
  const clock = { nowMs: Date.now() };
  const keyServer = await startKeyServer();
  await keyServer.publish('/keys', KEY);
  const area = await startArea(ledger, { nowMs: () => clock.nowMs });
  const started: ProviderArea = {
    keyServer,
    area,
    clock,
    addProvider(id, issuer, jwksUrl, audience = '') {
      area.users.write((users) =>
        users.insertIdentityProvider({ id, isDeactivated: false, issuer, jwksUrl, audience }),
      );
    },
    addMember(id, identityProviderId) {
      const user = { primaryParty: '', isDeactivated: false, primaryPartyAuthentication: false, resourceVersion: 0n };
      area.users.write((users) => users.insertUser({ ...user, id, identityProviderId, annotations: new Map() }));
    },
    asked: (path = '/keys') => keyServer.asked.get(path) ?? 0,
    async status(token) {
      const headers = { authorization: `Bearer ${await token}` };
      return (await fetch(`${area.url}/v2/authenticated-user`, { headers })).status;
    },
    async [Symbol.asyncDispose]() {
      await area[Symbol.asyncDispose]();
      await keyServer[Symbol.asyncDispose]();
    },
  };
  started.addProvider('P', ISSUER, `${keyServer.url}/keys`);
  started.addMember('member', 'P');
  return started;
}
