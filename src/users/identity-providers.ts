import { counted } from '../counted.ts';
import { type Call, requireParticipantAdmin } from './caller.ts';
import { PROVIDER_MASK_FIELDS, parseMask } from './update-mask.ts';
import { hasCredentials, type IdentityProvider, ledgerStringFault } from './user.ts';
import type { GivenProvider, UpdateProviderRequest } from './user-requests.ts';
import { invalidArgument, invalidField, missingField, UsersError, type UsersErrorCode } from './users-error.ts';
import { USERS_COUNTED_MAX, type UsersReader, type UsersWriter } from './users-store.ts';

/** The reference's limit (docs/rules.md, users). */
export const IDENTITY_PROVIDERS_MAX = 16;

type ProviderVerb = 'creating' | 'getting' | 'updating' | 'deleting';

export function listIdentityProviders({ users, caller }: Call<UsersReader>): readonly IdentityProvider[] {
  requireParticipantAdmin(caller);
  return users.identityProviders();
}

export function readIdentityProvider({ users, caller, id }: Call<UsersReader>): IdentityProvider {
  requireParticipantAdmin(caller);
  checkProviderId(id);
  return findProvider(users, id, 'getting');
}

/** Adds an identity provider: its tokens are accepted from the next request on. */
export function createIdentityProvider({
  users,
  caller,
  body: given,
}: Call<UsersWriter, GivenProvider | null>): IdentityProvider {
  requireParticipantAdmin(caller);
  if (given === null) throw missingField('identity_provider_config');
  checkProviderId(given.id);
  if (given.jwksUrl === '') throw missingField('jwks_url');
  checkJwksUrl(given.jwksUrl);
  if (given.issuer === '') throw missingField('issuer');
  checkLengths(given);
  if (users.identityProvider(given.id) !== null)
    throw providerError(
      'IDP_CONFIG_ALREADY_EXISTS',
      given.id,
      `creating identity provider config failed, as identity provider id="${given.id}" already exists`,
    );
  checkIssuerFree(users, given.issuer, 'creating');
  if (users.identityProviders().length >= IDENTITY_PROVIDERS_MAX)
    throw new UsersError(
      'TOO_MANY_IDENTITY_PROVIDER_CONFIGS',
      `creating identity provider config failed, as there are already ${IDENTITY_PROVIDERS_MAX} of them`,
    );
  users.insertIdentityProvider(given);
  return given;
}

/** Changes what the mask names. An empty issuer or URL stays unchanged; an empty audience is cleared. */
export function updateIdentityProvider({
  users,
  caller,
  body: { provider: given, updatePaths },
}: Call<UsersWriter, UpdateProviderRequest>): IdentityProvider {
  requireParticipantAdmin(caller);
  if (given === null) throw missingField('identity_provider_config');
  checkProviderId(given.id);
  if (given.jwksUrl !== '') checkJwksUrl(given.jwksUrl);
  if (updatePaths === null) throw missingField('update_mask');
  const mask = parseMask(updatePaths, PROVIDER_MASK_FIELDS, (fault) =>
    providerError(
      'INVALID_IDENTITY_PROVIDER_UPDATE_REQUEST',
      given.id,
      `Update operation for identity provider config '${given.id}' failed due to: ${fault}`,
    ),
  );
  checkLengths(given);
  const stored = findProvider(users, given.id, 'updating');
  const provider: IdentityProvider = {
    id: stored.id,
    isDeactivated: mask.choose('is_deactivated', given.isDeactivated, stored.isDeactivated),
    issuer: mask.choose('issuer', given.issuer || stored.issuer, stored.issuer),
    jwksUrl: mask.choose('jwks_url', given.jwksUrl || stored.jwksUrl, stored.jwksUrl),
    audience: mask.choose('audience', given.audience, stored.audience),
  };
  if (provider.issuer !== stored.issuer) checkIssuerFree(users, provider.issuer, 'updating');
  users.updateIdentityProvider(provider);
  return provider;
}

/** Removes an identity provider that no user refers to; its tokens are refused from the next request on. */
export function deleteIdentityProvider({ users, caller, id }: Call<UsersWriter>): void {
  requireParticipantAdmin(caller);
  checkProviderId(id);
  findProvider(users, id, 'deleting');
  const count = users.usersOfProvider(id);
  if (count > 0) {
    const referring = count > USERS_COUNTED_MAX ? `more than ${USERS_COUNTED_MAX} users` : counted(count, 'user');
    const refer = count === 1 ? 'refers' : 'refer';
    throw invalidArgument(`identity provider "${id}" cannot be deleted while ${referring} ${refer} to it`);
  }
  users.deleteIdentityProvider(id);
}

function checkProviderId(id: string): void {
  if (id === '') throw missingField('identity_provider_id');
  const fault = ledgerStringFault(id);
  if (fault !== null) throw invalidField('identity_provider_id', fault);
}

function checkJwksUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw invalidField('jwks_url', `Malformed URL: ${text}`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidField('jwks_url', `Malformed URL: neither http nor https: ${text}`);
  // A key set is never fetched with a password, and the message must not repeat it.
  if (hasCredentials(url)) throw invalidField('jwks_url', 'a URL with a user or password in it is not supported');
}

function providerError(code: UsersErrorCode, name: string, message: string): UsersError {
  return new UsersError(code, message, { resources: [['IDENTITY_PROVIDER_CONFIG', name]] });
}

function findProvider(users: UsersReader, id: string, verb: ProviderVerb): IdentityProvider {
  const provider = users.identityProvider(id);
  if (provider !== null) return provider;
  throw providerError(
    'IDP_CONFIG_NOT_FOUND',
    id,
    `${verb} identity provider config failed for unknown identity provider id="${id}"`,
  );
}

/** A list has all providers, and each token's issuer is looked up, so these texts are limited. */
const PROVIDER_TEXT_CHARS_MAX = 4096;

function checkLengths(given: GivenProvider): void {
  const texts = { jwks_url: given.jwksUrl, issuer: given.issuer, audience: given.audience };
  for (const [field, text] of Object.entries(texts)) {
    if (text.length > PROVIDER_TEXT_CHARS_MAX) {
      throw invalidField(field, `${text.length} characters, and at most ${PROVIDER_TEXT_CHARS_MAX} are kept`);
    }
  }
}

function checkIssuerFree(users: UsersReader, issuer: string, verb: ProviderVerb): void {
  if (users.identityProviderOfIssuer(issuer) === null) return;
  throw providerError(
    'IDP_CONFIG_ISSUER_ALREADY_EXISTS',
    issuer,
    `${verb} identity provider config failed, as issuer "${issuer}" already exists`,
  );
}
