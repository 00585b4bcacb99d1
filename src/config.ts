import { readConfigurationFile } from './config/configuration-file.ts';
import { defaultSettings, settingsOfEnvironment, settingsOfFile, settingsOfOptions } from './config/given-settings.ts';
import { KAFKA_KEYS, kafkaConfig } from './config/kafka.ts';
import { LEDGER_API_KEYS, ledgerApiConfig } from './config/ledger-api.ts';
import { takeOauth } from './config/oauth.ts';
import { POSTGRES_KEYS, postgresConfig } from './config/postgres.ts';
import { writerSettings } from './config/read-only.ts';
import { SCAN_KEYS, scanConfig } from './config/scan.ts';
import {
  environmentName,
  type GivenSettings,
  optionName,
  SETTING_KEYS,
  type SettingKey,
  type SettingValue,
} from './config/settings.ts';
import type { TopicSettings } from './feed/kafka/settings.ts';
import type { LedgerApiSettings, OauthSettings } from './feed/ledger-api/settings.ts';
import type { ScanSettings } from './feed/scan/settings.ts';
import type { PostgresSettings } from './postgres/settings.ts';
import { Refusal } from './refusal.ts';
import { parseUsersConfig, type UsersConfig } from './users/users-config.ts';

/** The fields of Config that say more than the name of their setting. */
const FIELDS = {
  data: 'dataDir',
  file: 'files',
  snapshotPeriod: 'snapshotPeriodUs',
  recordTimeAheadMax: 'recordTimeAheadMaxUs',
  recordTimeGapMax: 'recordTimeGapMaxUs',
  readyLagMax: 'readyLagMaxMs',
} as const satisfies Partial<Record<SettingKey, string>>;

/** Those of a source or of a store, which are one field together. */
const SOURCE_KEYS = [...KAFKA_KEYS, ...SCAN_KEYS, ...LEDGER_API_KEYS, ...POSTGRES_KEYS] as const;

type OwnKey = Exclude<SettingKey, (typeof SOURCE_KEYS)[number]>;
type Field<Key> = Key extends keyof typeof FIELDS ? (typeof FIELDS)[Key] : Key;

/** All settings, frozen. Units are in the names. Null: not given, and without a default. */
export type Config = { readonly [Key in OwnKey as Field<Key>]: SettingValue<Key> } & {
  readonly kafka: TopicSettings | null;
  readonly scan: ScanSettings | null;
  readonly ledgerApi: LedgerApiSettings | null;
  readonly postgres: PostgresSettings | null;
  /** The settings that were given and need a service that writes, by their names in messages. */
  readonly writerSettings: readonly string[];
  /** The key `ledger` of the configuration file. */
  readonly users: UsersConfig;
};

/**
 * Joins the three sources: an option before the environment before the configuration file before the default. Every
 * value given is validated, also one that another source overrides. Throws a Refusal that names what is wrong.
 */
export function loadConfig(sources: {
  /** The options that commander parsed; those that are no settings are ignored. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
  /** The topic is written and not followed, so that a source may be named as well. */
  readonly writesTopic?: boolean;
}): { readonly config: Config; readonly warnings: readonly string[] } {
  const options = settingsOfOptions(sources.options);
  const { settings: environment, warnings } = settingsOfEnvironment(sources.env);
  const fileName = (sources.options.config as string | undefined) ?? sources.env[environmentName('config')];
  const { file, oauth } =
    fileName === undefined ? { file: null, oauth: null } : takeOauth(readConfigurationFile(fileName));
  const fromFile = file === null ? {} : settingsOfFile(file);
  const given: GivenSettings = { ...fromFile, ...environment, ...options };
  const users = parseUsersConfig({ value: file?.values.ledger, folder: file?.folder ?? process.cwd() });
  const ofWriter = [
    ...writerSettings(options, optionName),
    ...writerSettings(environment, environmentName),
    ...writerSettings({ ...file?.values, ...fromFile }, (key) => `${key} in ${file?.name}`),
  ];
  const settings = withDefaults(given, { oauth, writesTopic: sources.writesTopic === true });
  return { config: freezeDeep({ ...settings, users, writerSettings: ofWriter }), warnings };
}

function withDefaults(
  given: GivenSettings,
  { oauth, writesTopic }: { readonly oauth: OauthSettings | null; readonly writesTopic: boolean },
): Omit<Config, 'users' | 'writerSettings'> {
  const values = { ...defaultSettings(), ...given };
  const own = SETTING_KEYS.filter((key) => !(SOURCE_KEYS as readonly SettingKey[]).includes(key));
  const fields = own.map((key) => [(FIELDS as Partial<Record<SettingKey, string>>)[key] ?? key, values[key]]);
  const [kafka, scan] = [kafkaConfig(given), scanConfig(given, values)];
  const ledgerApi = ledgerApiConfig(given, { ...values, oauth });
  if (given.start !== undefined && scan === null && ledgerApi === null)
    throw new Refusal(`${optionName('start')} needs ${optionName('scan')} or ${optionName('ledgerApi')} too`);
  const named = Object.entries({ ledgerApi, scan, kafkaTopic: writesTopic ? null : kafka }).filter(
    ([, source]) => source !== null,
  );
  const [first, second] = named.map(([key]) => optionName(key as SettingKey));
  if (second !== undefined) throw new Refusal(`${first} cannot be given with ${second}: one source is followed`);
  return { ...Object.fromEntries(fields), kafka, scan, ledgerApi, postgres: postgresConfig(given) };
}

function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freezeDeep(part);
  }
  return value;
}
