import { resolve } from 'node:path';
import { readConfigurationFile } from './config/configuration-file.ts';
import { settingsOfEnvironment, settingsOfFile, settingsOfOptions } from './config/given-settings.ts';
import { type KafkaConfig, kafkaConfig } from './config/kafka.ts';
import { writerSettings } from './config/read-only.ts';
import { environmentName, type GivenSettings, optionName } from './config/settings.ts';
import { OWNERS_MAX_DEFAULT } from './holdings/question.ts';
import type { Micros } from './ledger/time.ts';
import { parseUsersConfig, type UsersConfig } from './users/users-config.ts';

/** All settings, frozen. Units are in the names. */
export interface Config {
  readonly dataDir: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly reusePort: boolean;
  readonly readOnly: boolean;
  /** The settings that were given and need a service that writes, by their names in messages. */
  readonly writerSettings: readonly string[];
  readonly files: readonly string[];
  readonly kafka: KafkaConfig | null;
  /** Null: what is stored with the data directory, else 0. */
  readonly migrationId: number | null;
  /** Null: what is stored with the data directory, else ten minutes. */
  readonly snapshotPeriodUs: Micros | null;
  /** Null: the one stored with the data directory, else the first seen. */
  readonly dso: string | null;
  readonly emptyOwners: 'zero' | 'omit';
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly forceSnapshots: boolean;
  readonly ownersMax: number;
  readonly bodyBytesMax: number;
  readonly recordTimeAheadMaxUs: Micros;
  readonly recordTimeGapMaxUs: Micros;
  readonly readyLagMaxMs: number;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Null: the one made with users.db. */
  readonly participantId: string | null;
  readonly logLevel: string;
  /** The key `ledger` of the configuration file. */
  readonly users: UsersConfig;
}

const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;

/**
 * Joins the three sources: an option before the environment before the configuration file before the default. Every
 * value given is validated, also one that another source overrides. Throws a Refusal that names what is wrong.
 */
export function loadConfig(sources: {
  /** The options that commander parsed; those that are no settings are ignored. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
}): { readonly config: Config; readonly warnings: readonly string[] } {
  const options = settingsOfOptions(sources.options);
  const { settings: environment, warnings } = settingsOfEnvironment(sources.env);
  const fileName = (sources.options.config as string | undefined) ?? sources.env[environmentName('config')];
  const file = fileName === undefined ? null : readConfigurationFile(fileName);
  const fromFile = file === null ? {} : settingsOfFile(file);
  const given: GivenSettings = { ...fromFile, ...environment, ...options };
  const users = parseUsersConfig({ value: file?.values.ledger, folder: file?.folder ?? process.cwd() });
  const ofWriter = [
    ...writerSettings(options, optionName),
    ...writerSettings(environment, environmentName),
    ...writerSettings({ ...file?.values, ...fromFile }, (key) => `${key} in ${file?.name}`),
  ];
  return { config: freezeDeep({ ...withDefaults(given), users, writerSettings: ofWriter }), warnings };
}

/** The directory of a command that is given none. */
export function dataDirDefault(): string {
  return resolve('data');
}

function withDefaults(given: GivenSettings): Omit<Config, 'users' | 'writerSettings'> {
  return {
    dataDir: given.data ?? dataDirDefault(),
    host: given.host ?? '127.0.0.1',
    port: given.port ?? 8080,
    reusePort: given.reusePort ?? false,
    readOnly: given.readOnly ?? false,
    files: given.file ?? [],
    kafka: kafkaConfig(given),
    migrationId: given.migrationId ?? null,
    snapshotPeriodUs: given.snapshotPeriod ?? null,
    dso: given.dso ?? null,
    emptyOwners: given.emptyOwners ?? 'zero',
    onBadUpdate: given.onBadUpdate ?? 'halt',
    forceSnapshots: given.forceSnapshots ?? false,
    ownersMax: given.ownersMax ?? OWNERS_MAX_DEFAULT,
    bodyBytesMax: given.bodyBytesMax ?? 1_048_576,
    recordTimeAheadMaxUs: given.recordTimeAheadMax ?? HOUR_US,
    recordTimeGapMaxUs: given.recordTimeGapMax ?? 400 * DAY_US,
    readyLagMaxMs: (given.readyLagMax ?? 60_000_000) / 1000,
    corsOrigins: given.corsOrigins ?? ['*'],
    trustedProxies: given.trustedProxies ?? [],
    participantId: given.participantId ?? null,
    logLevel: given.logLevel ?? 'info',
  };
}

function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freezeDeep(part);
  }
  return value;
}
