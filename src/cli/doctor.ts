import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config/load-config.ts';
import { counted } from '../counted.ts';
import { createKafkaClient, readBounds, withAdmin } from '../feed/kafka/kafka-client.ts';
import { createTokens } from '../feed/ledger-api/oauth-tokens.ts';
import { askLedgerEnd, askLocalParties, createLedgerApiClient } from '../feed/ledger-api/participant-client.ts';
import { refusalOf } from '../feed/ledger-api/participant-errors.ts';
import { knownImportsAt } from '../feed/ledger-api/participant-import.ts';
import { Filter } from '../feed/ledger-api/participant-updates.ts';
import { AnswerFailure } from '../feed/network/json-client.ts';
import type { LedgerApiSettings, ScanSettings } from '../feed/network/network-settings.ts';
import { askMigrationId, createScanClient } from '../feed/scan/scan-client.ts';
import { askSnapshot } from '../feed/scan/scan-import.ts';
import { explained } from '../machine-errors.ts';
import { describeServer, type PostgresSettings } from '../scale/postgres-settings.ts';
import { openStoredStatus } from '../views/read/stored-status.ts';
import { viewsFile } from '../views/store/database.ts';
import { type CliCommand, EXIT, type Invocation } from './command.ts';
import { SERVE_KEYS } from './serve.ts';
import { safeText } from './terminal.ts';

/** What is tested, and how: gives what was found, throws an error that says what to do. */
type Test = readonly [what: string, find: () => Promise<string>];

const ANSWER_MS_MAX = 10_000;
const CLOCK_OFF_MS_MAX = 5_000;
/** Room for the write-ahead log and a day of a large network. */
const FREE_GIB_MIN = 2;

export const doctorCommand: CliCommand = {
  usage: 'doctor',
  summary: 'Test what is configured for serve: a line each, ok or what to do',
  examples: [
    'holdfast doctor --scan https://scan.sv-1.example,https://scan.sv-2.example',
    'holdfast doctor --config /etc/holdfast/holdfast.json',
  ],
  settings: SERVE_KEYS,
  dataDir: 'made',
  hidesSettings: true,
  run: async ({ config, terminal, logger }) => {
    const signal = terminal.stopSignal();
    const about = { signal, logger };
    const { scan, ledgerApi, kafka, postgres } = config;
    const tests: readonly Test[] = [
      ['Node.js', async () => `${process.version} on ${process.platform} ${process.arch}`],
      ['disk', () => findRoom(resolve(config.dataDir))],
      ['data', async () => findData(config)],
      ...(scan === null ? [] : scanTests(scan, config, about)),
      ...(ledgerApi === null ? [] : participantTests(ledgerApi, about)),
      ...(kafka === null ? [] : [kafkaTest(kafka, about)]),
      ...(postgres === null ? [] : [postgresTest(postgres)]),
      ['clock', () => findClock([...(scan?.urls ?? []), ...(ledgerApi === null ? [] : [ledgerApi.url])], signal)],
    ];
    let mendings = 0;
    for (const [what, find] of tests) {
      const line = await find().then(
        (found) => `ok    ${what}: ${found}`,
        (error: Error) => {
          mendings += 1;
          return `mend  ${what}: ${explained(error)}`;
        },
      );
      terminal.stdout.write(`${safeText(line)}\n`);
    }
    if (mendings > 0) terminal.stdout.write(`${counted(mendings, 'thing')} to mend\n`);
    return mendings === 0 ? EXIT.ok : EXIT.failed;
  },
};

type About = Pick<Invocation, 'logger'> & { readonly signal: AbortSignal };

async function findRoom(dataDir: string): Promise<string> {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const gib = Math.floor((bavail * bsize) / 2 ** 30);
  if (gib >= FREE_GIB_MIN) return `${gib} GiB free at ${folder}`;
  throw new Error(`${gib} GiB free at ${folder}; make room: an event takes 160 bytes, the log up to 400 MB`);
}

function findData({ dataDir, dso, postgres, readOnly }: Config): string {
  if (postgres !== null) return 'not used';
  if (!existsSync(viewsFile(dataDir))) {
    if (!readOnly) return `${resolve(dataDir)} is made by the first start`;
    throw new Error(`${resolve(dataDir)} has no views.db; start the service that writes it first`);
  }
  using stored = openStoredStatus(dataDir);
  const { halted, dso: known } = stored.read();
  if (halted !== null) throw new Error('the ingest is halted; `holdfast dead-letters list` says why');
  if (dso !== null && known.party !== null && known.party !== dso)
    throw new Error(
      `the DSO is ${known.party} there, and --dso is ${dso}; use the directory's own, or a new directory`,
    );
  return `${resolve(dataDir)}, DSO ${known.party ?? 'not known yet'}`;
}

function scanTests(
  { urls, ca, start }: ScanSettings,
  { dso: pinned, dataDir }: Config,
  { signal }: About,
): readonly Test[] {
  const imports = start === 'snapshot' && !existsSync(viewsFile(dataDir));
  const dsos = new Map<string, string>();
  const ofScans = urls.map(
    (url): Test => [
      `Scan ${url}`,
      async () => {
        using client = createScanClient(url, { ca, signal, answerTimeoutMs: ANSWER_MS_MAX });
        const { version } = await client.ask('/version', z.object({ version: z.string() }));
        const { dso_party_id: dso } = await client.ask('/v0/dso-party-id', z.object({ dso_party_id: z.string() }));
        dsos.set(url, dso);
        const { complete } = await client.ask('/v0/backfilling/status', z.object({ complete: z.boolean() }));
        if (!complete) throw new Error('it has not all of the history yet; name another one too');
        const migration = await askMigrationId(client);
        const from = imports ? `, a snapshot of ${(await askSnapshot(client, migration)).text}` : '';
        return `Splice ${version}, migration ${migration}${from}`;
      },
    ],
  );
  const ofNetwork: Test = [
    'DSO',
    async () => {
      const [dso, other] = new Set([...dsos.values(), ...(pinned === null ? [] : [pinned])]);
      if (dso === undefined) throw new Error('not known, because no Scan answers');
      if (other !== undefined) throw new Error(`${dso} and ${other} are two networks; name Scans and a --dso of one`);
      return pinned === null ? `${dso}; pin it with --dso` : dso;
    },
  ];
  return [...ofScans, ofNetwork];
}

function participantTests(settings: LedgerApiSettings, { signal, logger }: About): readonly Test[] {
  const { url, parties, tokenFile, oauth } = settings;
  const entry = (tokenFile ?? oauth) === null ? 'it asks for no token' : 'the token is accepted';
  const tokens = createTokens(settings, logger);
  const client = createLedgerApiClient(settings, { tokens, signal });
  const explain = (error: unknown): never => {
    if (!(error instanceof AnswerFailure)) throw error;
    const isRefused = error.about.conduct === 'new token';
    if (isRefused) throw new Error(`${error.message}; the token is missing, expired or of another issuer`);
    throw refusalOf(error, { offset: null, parties });
  };
  return [
    [`participant ${url}`, async () => `${entry}, ledger end ${(await askLedgerEnd(client).catch(explain)).offset}`],
    [
      'rights to read',
      async () => {
        const { offset } = await askLedgerEnd(client).catch(explain);
        const unknown: string[] = [];
        const filter = new Filter(settings, (text) => unknown.push(`; ${text}`));
        const ask = <T>(step: () => Promise<T>): Promise<T> => step();
        const pages = knownImportsAt({ client, ask, offset, migrationId: 0 }, filter);
        await pages.next().catch(explain);
        await pages.return(undefined);
        const of =
          parties === 'all'
            ? `all parties, ${(await askLocalParties(client).catch(explain)).length} of them local`
            : parties.join(', ');
        return `of ${of}${unknown.join('')}`;
      },
    ],
  ];
}

function kafkaTest(kafka: NonNullable<Config['kafka']>, { logger }: About): Test {
  return [
    `topic ${kafka.topic}`,
    async () => {
      const bounds = await withAdmin(createKafkaClient(kafka, logger), (admin) => readBounds(admin, kafka.topic));
      const held = [...bounds.values()].reduce((sum, { low, high }) => sum + high - low, 0);
      return `${counted(bounds.size, 'partition')}, ${counted(held, 'message')}`;
    },
  ];
}

function postgresTest(postgres: PostgresSettings): Test {
  return [
    'PostgreSQL',
    async () => {
      const { openPostgresStore } = await import('../scale/postgres-store.ts');
      await using store = openPostgresStore(postgres);
      const { dso, contradictions } = await store.standing();
      if (contradictions.length > 0) throw new Error(contradictions.join('; '));
      return `${describeServer(postgres)}, a store of DSO ${dso}`;
    },
  ];
}

/** By the `Date` of the first server that gives one. */
async function findClock(urls: readonly string[], signal: AbortSignal): Promise<string> {
  for (const url of urls) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const answer = await fetch(`${url}/version`, { signal: timeout }).catch(() => null);
    const theirs = Date.parse(answer?.headers.get('date') ?? '');
    if (Number.isNaN(theirs)) continue;
    const offMs = Math.abs(Date.now() - theirs);
    if (offMs <= CLOCK_OFF_MS_MAX) return `within ${CLOCK_OFF_MS_MAX / 1000} s of ${new URL(url).host}`;
    throw new Error(`${Math.round(offMs / 1000)} s off that of ${new URL(url).host}; synchronize it (NTP)`);
  }
  return `not compared: ${urls.length === 0 ? 'neither a Scan nor a participant is named' : 'no named server says its time'}`;
}
