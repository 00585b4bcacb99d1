import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { OauthSettings } from '../feed/network/network-settings.ts';
import { withoutExcerpt } from '../json/parse-error.ts';
import { isObject, jsonOrNull } from '../json/untrusted.ts';
import { isPartyId } from '../ledger/ledger-ids.ts';
import { readNamed, readSecret } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { httpUrl } from '../setting-kinds.ts';

export interface ConfigurationFile {
  /** Its path as given, for messages. */
  readonly name: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Of the key `ledgerApi`, where that is not only an address. */
  readonly oauth: OauthSettings | null;
}

/** Reads the JSON of `--config`; throws a Refusal where it cannot be read or is no JSON object. */
export function readConfigurationFile(name: string): ConfigurationFile {
  const text = readNamed('--config', name).toString();
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw new Refusal(`--config: ${name} is not JSON: ${withoutExcerpt(error as Error)}`, { cause: error });
  }
  if (!isObject(values)) throw new Refusal(`--config: ${name} must contain one JSON object, such as {"port": 8080}`);
  return takeOauth({ name, folder: dirname(resolve(name)), values, oauth: null });
}

const nonEmpty = z.string().min(1);

const label = z.strictObject({ name: nonEmpty.optional(), group: nonEmpty.optional() });
const labels = z.record(
  z.string().refine(isPartyId),
  z.union([nonEmpty.transform((name): z.infer<typeof label> => ({ name })), label]),
);
/** What people call parties, by their ids; parties of a group are added up. */
export type Labels = z.infer<typeof labels>;

/** Throws a Refusal where the file has another form. */
export function readLabels(file: string | null): Labels {
  if (file === null) return {};
  const { data } = labels.safeParse(jsonOrNull(readNamed('--labels', file).toString()));
  if (data === undefined)
    throw new Refusal(`--labels: ${file} must contain {"PARTY": "NAME" or {"name"?, "group"?}, ...} in JSON`);
  return data;
}
const withOauth = z.strictObject({
  url: nonEmpty.optional(),
  oauth: z.strictObject({
    tokenUrl: httpUrl,
    clientId: nonEmpty,
    clientSecret: z.union([nonEmpty, z.strictObject({ file: nonEmpty })]),
    audience: nonEmpty.nullable().default(null),
    scope: nonEmpty.nullable().default(null),
  }),
});
const OAUTH_EXPECTED =
  'the address as text, or {"url"?, "oauth": {"tokenUrl", "clientId", "clientSecret": {"file"}, "audience"?, "scope"?}}';

/** Leaves the address in `ledgerApi`. Throws a Refusal that shows no value: one may be the secret. */
function takeOauth(file: ConfigurationFile): ConfigurationFile {
  const { ledgerApi, ...others } = file.values;
  if (typeof ledgerApi !== 'object' || ledgerApi === null) return file;
  const parsed = withOauth.safeParse(ledgerApi);
  if (!parsed.success) {
    const field = ['ledgerApi', ...parsed.error.issues[0]!.path].join('.');
    throw new Refusal(`${field} in ${file.name}: not as expected: ${OAUTH_EXPECTED}`);
  }
  const { url, oauth } = parsed.data;
  const { clientSecret: given } = oauth;
  const clientSecret =
    typeof given === 'string'
      ? given
      : readSecret('ledgerApi.oauth.clientSecret', resolve(file.folder, given.file)).toString();
  const values = url === undefined ? others : { ...others, ledgerApi: url };
  return { ...file, values, oauth: { ...oauth, clientSecret } };
}
