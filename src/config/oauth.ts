import { resolve } from 'node:path';
import { z } from 'zod';
import type { OauthSettings } from '../feed/ledger-api/participant-kind.ts';
import { readSecret } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import type { ConfigurationFile } from './configuration-file.ts';
import { isHttpUrl } from './value-schemas.ts';

const text = z.string().min(1);
const schema = z.strictObject({
  url: text.optional(),
  oauth: z.strictObject({
    tokenUrl: z.string().refine(isHttpUrl),
    clientId: text,
    clientSecret: z.union([text, z.strictObject({ file: text })]),
    audience: text.optional(),
    scope: text.optional(),
  }),
});
const EXPECTED =
  'the address as text, or {"url"?, "oauth": {"tokenUrl", "clientId", "clientSecret": {"file"}, "audience"?, "scope"?}}';

/**
 * The client credentials in `ledgerApi` of a configuration file, which is the address of the Ledger API where it is text; and the
 * file with that address in its place. Throws a Refusal that shows no value: one may be the secret.
 */
export function takeOauth(file: ConfigurationFile): { file: ConfigurationFile; oauth: OauthSettings | null } {
  const { ledgerApi, ...others } = file.values;
  if (typeof ledgerApi !== 'object' || ledgerApi === null) return { file, oauth: null };
  const parsed = schema.safeParse(ledgerApi);
  if (!parsed.success) {
    const path = ['ledgerApi', ...parsed.error.issues[0]!.path].join('.');
    throw new Refusal(`${path} in ${file.name}: not as expected: ${EXPECTED}`);
  }
  const { url, oauth } = parsed.data;
  const { clientSecret: given, audience = null, scope = null, tokenUrl, clientId } = oauth;
  const clientSecret =
    typeof given === 'string'
      ? given
      : readSecret('ledgerApi.oauth.clientSecret', resolve(file.folder, given.file)).toString();
  const values = url === undefined ? others : { ...others, ledgerApi: url };
  return { file: { ...file, values }, oauth: { tokenUrl, clientId, clientSecret, audience, scope } };
}
