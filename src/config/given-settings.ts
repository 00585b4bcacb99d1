import { resolve } from 'node:path';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import type { ConfigurationFile } from './configuration-file.ts';
import type { Setting } from './setting.ts';
import {
  environmentName,
  type GivenSettings,
  optionName,
  SETTING_KEYS,
  SETTINGS,
  type SettingKey,
  type SettingValue,
} from './settings.ts';

/** Keys of the configuration file that have no option of their own. */
const FILE_ONLY_KEYS = ['ledger'];

/** Variables that Kubernetes sets in every container of a namespace with a Service named holdfast. */
const KUBERNETES = /^HOLDFAST_(SERVICE|PORT)_/;

/** Every setting as it is where none is given. */
export function defaultSettings(): { readonly [Key in SettingKey]: SettingValue<Key> } {
  const raw = Object.fromEntries(SETTING_KEYS.map((key) => [key, SETTINGS[key].default]));
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  const values = { ...raw, ...parseSettings(given, { name: optionName, folder: process.cwd() }) };
  return values as ReturnType<typeof defaultSettings>;
}

/** The settings among the options that commander parsed; a command's own options are none. */
export function settingsOfOptions(options: Readonly<Record<string, unknown>>): GivenSettings {
  return parseSettings(options, { name: optionName, folder: process.cwd() });
}

/** The environment's settings. An unknown HOLDFAST_ name is refused, except for those of Kubernetes, which cause a warning. */
export function settingsOfEnvironment(env: NodeJS.ProcessEnv): { settings: GivenSettings; warnings: string[] } {
  const keyOf = new Map(SETTING_KEYS.map((key) => [environmentName(key), key]));
  const raw: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('HOLDFAST_') || value === undefined || name === environmentName('config')) continue;
    const key = keyOf.get(name);
    if (KUBERNETES.test(name) || (key === 'port' && value.startsWith('tcp://')))
      warnings.push(`${name} is ignored: it looks like what Kubernetes sets for a Service named holdfast`);
    else if (key === undefined) throw new Refusal(`${name}: no such setting; \`holdfast serve --help\` lists them`);
    else raw[key] = value;
  }
  return { settings: parseSettings(raw, { name: environmentName, folder: process.cwd() }), warnings };
}

/** The configuration file's settings; an unknown key is refused. */
export function settingsOfFile(file: ConfigurationFile): GivenSettings {
  for (const key of Object.keys(file.values))
    if (!Object.hasOwn(SETTINGS, key) && !FILE_ONLY_KEYS.includes(key))
      throw new Refusal(`${key} in ${file.name}: no such setting; \`holdfast serve --help\` lists them`);
  return parseSettings(file.values, { name: (key) => `${key} in ${file.name}`, folder: file.folder });
}

/** Where a value came from: its name in messages, and where its relative paths start. */
interface Origin {
  readonly name: (key: SettingKey) => string;
  readonly folder: string;
}

function parseSettings(raw: Readonly<Record<string, unknown>>, { name, folder }: Origin): GivenSettings {
  const given: Record<string, unknown> = {};
  for (const key of SETTING_KEYS) {
    if (raw[key] === undefined) continue;
    const setting: Setting<unknown> = SETTINGS[key];
    const value = parseAs(name(key), setting, raw[key]);
    given[key] = setting.path === true ? resolvePaths(folder, value as string | readonly string[]) : value;
  }
  return given as GivenSettings;
}

/** The value of a setting, or of an option that has the same values. Throws a Refusal with its name for anything else. */
export function parseAs<Value>(
  name: string,
  { schema, expected }: Pick<Setting<Value>, 'schema' | 'expected'>,
  raw: unknown,
): Value {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Refusal(`${name}: given ${showGiven(raw)}, expected ${expected}`);
}

/** `-` is standard input, not a path. */
function resolvePaths(folder: string, value: string | readonly string[]): string | readonly string[] {
  if (typeof value !== 'string') return value.map((name) => resolvePaths(folder, name) as string);
  return value === '-' ? value : resolve(folder, value);
}
