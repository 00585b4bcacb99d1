import { resolve } from 'node:path';
import { Refusal } from '../refusal.ts';
import { postgresConfig } from '../scale/postgres-settings.ts';
import { environmentName, optionName, parseAs, type Setting } from '../setting-kinds.ts';
import { parseUsersConfig } from '../users/users-config.ts';
import { type ConfigurationFile, readConfigurationFile, readLabels } from './configuration-file.ts';
import { readInstrumentNames } from './instrument-names.ts';
import { GROUPS, SETTING_KEYS, SETTINGS, type SettingKey, type Settings } from './setting-list.ts';
import { kafkaConfig, ledgerApiConfig, scanConfig } from './source-config.ts';

/** All settings, with those of a source or a store together: its secrets and certificates are read. */
export type Config = ReturnType<typeof loadConfig>['config'];

/** Keys of the configuration file that have no option of their own. */
const FILE_ONLY_KEYS = ['ledger'];
/** Variables that Kubernetes sets in every container of a namespace with a Service named holdfast. */
const KUBERNETES = /^HOLDFAST_((SERVICE|PORT)_|PORT=tcp:\/\/)/;

interface Sources {
  /** Those that commander parsed, as text; those that are no settings are ignored, and `config` names the file. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the environment gave the option. */
  readonly isOfEnvironment?: (key: string) => boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** Joins the options with the configuration file and the defaults. Throws a Refusal that names what is wrong. */
export function loadConfig({ options, isOfEnvironment = () => false, env }: Sources) {
  const warnings = checkEnvironment(env);
  const file = options.config === undefined ? null : readConfigurationFile(options.config as string);
  checkKeys(file);
  const values: Record<string, unknown> = {};
  /** The settings that were given, by their names in messages. */
  const given = new Map<SettingKey, string>();
  for (const key of SETTING_KEYS) {
    const setting: Setting = SETTINGS[key];
    const option = isOfEnvironment(key) ? environmentName(key) : optionName(key);
    const isIgnored = isOfEnvironment(key) && KUBERNETES.test(`${option}=${options[key]}`);
    for (const { raw, name, folder } of [
      { raw: setting.default, name: null, folder: '' },
      { raw: file?.values[key], name: `${key} in ${file?.name}`, folder: file?.folder ?? '' },
      { raw: isIgnored ? undefined : options[key], name: option, folder: '' },
    ]) {
      if (raw === undefined) continue;
      const value = parseAs(name ?? key, setting, raw);
      values[setting.field ?? key] = setting.isPath ? resolvePaths(folder, value) : value;
      const isEmpty = value === false || (Array.isArray(value) && value.length === 0);
      if (name !== null && !isEmpty) given.set(key, name);
    }
    values[setting.field ?? key] ??= null;
  }
  const settings = values as unknown as Settings;
  refuseIncomplete(given);
  const sources = {
    kafka: kafkaConfig(settings),
    scan: scanConfig(settings),
    ledgerApi: ledgerApiConfig(settings, file?.oauth ?? null),
    postgres: postgresConfig(settings),
  };
  const users = parseUsersConfig({ value: file?.values.ledger, folder: file?.folder ?? process.cwd() });
  const ofWriter = [...given].filter(([key]) => (SETTINGS[key] as Setting).reads !== true).map(([, name]) => name);
  /** The settings that were given and need a service that writes, by their names in messages. */
  const writerSettings = file?.values.ledger === undefined ? ofWriter : [...ofWriter, `ledger in ${file.name}`];
  const instrumentNames = readInstrumentNames(settings.instruments);
  const labels = readLabels(settings.labelsFile);
  return { config: { ...settings, ...sources, instrumentNames, labels, users, writerSettings }, warnings };
}

/** Refuses an unknown HOLDFAST_ name; one of Kubernetes gives a warning. */
function checkEnvironment(env: NodeJS.ProcessEnv): readonly string[] {
  const known = new Set(['config', 'apiKey', ...SETTING_KEYS].map(environmentName));
  const given = Object.entries(env).filter(([name]) => name.startsWith('HOLDFAST_'));
  return given.flatMap(([name, value]) => {
    if (KUBERNETES.test(`${name}=${value}`))
      return [`${name} is ignored: it looks like what Kubernetes sets for a Service named holdfast`];
    if (known.has(name)) return [];
    throw new Refusal(`${name}: no such setting; \`holdfast serve --help\` lists them`);
  });
}

function checkKeys(file: ConfigurationFile | null): void {
  const unknown = Object.keys(file?.values ?? {}).find(
    (key) => !Object.hasOwn(SETTINGS, key) && !FILE_ONLY_KEYS.includes(key),
  );
  if (unknown !== undefined)
    throw new Refusal(`${unknown} in ${file?.name}: no such setting; \`holdfast serve --help\` lists them`);
}

function refuseIncomplete(given: ReadonlyMap<string, string>): void {
  for (const key of given.keys()) {
    const [, group = []] = GROUPS.find(([settings]) => Object.hasOwn(settings, key) && key !== 'start') ?? [];
    const needs = [...group, ...((SETTINGS[key as SettingKey] as Setting).needs ?? [])];
    const missing = needs.find((other) => !given.has(other));
    if (missing !== undefined) throw new Refusal(`${optionName(key)} needs ${optionName(missing)} too`);
  }
  if (given.has('scan') && given.has('ledgerApi'))
    throw new Refusal(`${optionName('ledgerApi')} cannot be given with ${optionName('scan')}: one source is followed`);
  if (given.has('start') && !given.has('scan') && !given.has('ledgerApi'))
    throw new Refusal(`${optionName('start')} needs ${optionName('scan')} or ${optionName('ledgerApi')} too`);
}

/** `-` is standard input, not a path. */
function resolvePaths(folder: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((name) => resolvePaths(folder, name));
  return value === '-' ? value : resolve(folder, value as string);
}
