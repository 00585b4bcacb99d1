import { hash } from 'node:crypto';
import { z } from 'zod';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { formatAmount } from '../../ledger/amount.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { ENTITIES, PACKAGE_NAME } from '../../ledger/templates.ts';
import { parseLedgerTime } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import { AnswerFailure, type JsonClient, shortened, TEXT } from '../network/json-client.ts';
import { type ImportMessage, importOf, listedIn, requireParsable } from '../network/snapshot-import.ts';
import { FeedRefused } from '../source.ts';
import { PageSize, SNAPSHOT_NOT_FOUND } from './scan-client.ts';
import type { ScanPosition } from './scan-position.ts';

const TEMPLATES_ASKED = [...ENTITIES.keys()].map((template) => `${PACKAGE_NAME}:${template}`);
/** What gives the contracts of a snapshot, the newest version first: v2 came with Splice 0.7.5, and 0.9 removed v1. */
const PATHS: readonly string[] = ['/v2/state/acs', '/v1/state/acs'];
/** How a Scan, or a proxy in front of it, answers to an unknown path. */
const PATH_UNKNOWN: readonly (number | undefined)[] = [404, 405, 501];
/** Contracts and page tokens of one snapshot: the most that a Set holds. No network has nearly as many. */
const SEEN_MAX = 2 ** 24 - 1;

/** A Scan's snapshot: it has everything up to its record time, and nothing after it. */
export interface SnapshotPosition extends ScanPosition {
  /** The record time as the Scan writes it. */
  readonly text: string;
}

/** The newest snapshot of a migration. */
export async function askSnapshot(client: JsonClient, migrationId: number): Promise<SnapshotPosition> {
  const time = encodeURIComponent(new Date().toISOString());
  const path = `/v0/state/acs/snapshot-timestamp?before=${time}&migration_id=${migrationId}`;
  const answer = client.ask(path, z.object({ record_time: z.string() }));
  const { record_time: text } = await answer.catch((error: unknown) => {
    throw mayReturn(error, `has no snapshot of migration ${migrationId} yet; --start beginning needs none`);
  });
  const recordTime = parseLedgerTime(text);
  if (recordTime === null) throw new AnswerFailure(`${client.url}: answers without the time of its snapshot`);
  return { migrationId, recordTime, text };
}

/** Makes a failure with one of these statuses pass: snapshots are removed in time, and the newest one can be read. */
export function mayReturn(error: unknown, what: string, statuses: readonly (number | undefined)[] = [404]): unknown {
  if (!(error instanceof AnswerFailure) || !statuses.includes(error.about.status)) return error;
  return new AnswerFailure(`${what} (${error.message})`, { cause: error });
}

/**
 * Asks for pages of a snapshot by the newest version that the Scan has, and by the same version from then on: another version does
 * not know its page tokens. Throws AnswerFailure: with `stop` where the Scan has no version of it.
 */
function pageAsker(client: JsonClient): (body: object) => Promise<Buffer> {
  let paths = PATHS;
  return async (body) => {
    for (const path of paths) {
      try {
        const page = await client.askBytes(path, body);
        paths = [path];
        return page;
      } catch (error) {
        const { about, message } = error instanceof AnswerFailure ? error : {};
        if (about === undefined || about.code === SNAPSHOT_NOT_FOUND || !PATH_UNKNOWN.includes(about.status))
          throw error;
        // The Scan was upgraded meanwhile.
        if (paths.length === 1) throw new AnswerFailure(message!, { cause: error, status: 404, conduct: 'stop' });
      }
    }
    const version = await askVersion(client);
    const splice = version === null ? 'unknown version' : `version ${version}`;
    throw new AnswerFailure(
      `${client.url} has neither ${PATHS.join(' nor ')}, which give the active contracts (Splice of ${splice}): ` +
        'use a version of Holdfast that knows its calls, or another Scan',
      // Without a version it may be a proxy that answers in place of the Scan.
      { conduct: version === null ? 'back off' : 'stop' },
    );
  };
}

/** Its release of Splice, such as `0.9.0`; null where it does not say one. */
async function askVersion(client: JsonClient): Promise<string | null> {
  const { version } = await client.ask('/version', z.object({ version: TEXT })).catch((error: unknown) => {
    if (error instanceof AnswerFailure) return { version: '' };
    throw error;
  });
  return /^[\w.+-]{1,64}$/.test(version) ? version : null;
}

/** The coins and rounds of a snapshot as imports, by pages. All are of one Scan, because each numbers its contracts for itself. */
export async function* importsAt(
  client: JsonClient,
  { text, recordTime, migrationId }: SnapshotPosition,
  { pageSize, check, ask }: { pageSize: number; check: ImportCheck; ask: <T>(step: () => Promise<T>) => Promise<T> },
): AsyncGenerator<readonly ImportMessage[]> {
  const size = new PageSize(pageSize);
  const askPage = pageAsker(client);
  /** By 64 bits of their hash: two of ten million share them once in a hundred thousand imports. */
  const seen = new Set<bigint>();
  const requireNew = (what: string): void => {
    if (seen.size < SEEN_MAX && seen.size < seen.add(hash('sha256', what, 'buffer').readBigUInt64LE()).size) return;
    const twice = `has ${shortened(what)} twice, or more than ${SEEN_MAX}`;
    throw new AnswerFailure(`${client.url}: its snapshot of ${text} ${twice}`);
  };
  const messageOf = (bytes: Buffer): ImportMessage => {
    requireParsable(client, bytes);
    const json = bytes.toString();
    const value = jsonOrNull(json);
    if (!isObject(value)) throw new AnswerFailure(`${client.url}: answers with a contract that is no JSON object`);
    const id = typeof value.contract_id === 'string' ? value.contract_id : '';
    if (id !== '') requireNew(`contract ${id}`);
    const { created_in_update_id: made } = value;
    // Older Scans wrote other values there, with a # before them.
    const createdIn = typeof made === 'string' && !made.startsWith('#') ? made : undefined;
    const message = importOf({ id, node: 0, createdIn, text: json }, migrationId);
    if (message.decoded !== undefined) check.add(message.decoded);
    return message;
  };
  const asked = { migration_id: migrationId, record_time: text, templates: TEMPLATES_ASKED };
  let after: unknown = null;
  do {
    const more = after === null ? asked : { ...asked, after };
    const { elements, rest } = await ask(() =>
      size.ask(async (page_size) => listedIn(client, await askPage({ ...more, page_size }), 'created_events')),
    ).catch((error: unknown) => {
      // A page token is refused once its Scan has numbered the contracts in another way.
      throw mayReturn(error, `the snapshot of ${text} is gone`, after === null ? [404] : [400, 404]);
    });
    if (parseLedgerTime(String(rest.record_time)) !== recordTime || rest.migration_id !== migrationId)
      throw new AnswerFailure(`${client.url}: answers with another snapshot than that of ${text}, which was asked for`);
    yield elements.map(messageOf);
    after = rest.next_page_token ?? null;
    if (after !== null) requireNew(`page token ${JSON.stringify(after)}`);
  } while (after !== null);
}

/** Owners whose sums are compared. */
const SAMPLE = 50;

type Sums = Record<'unlocked' | 'locked', bigint>;

const SUMMARY = z.object({ party_id: z.string(), total_unlocked_coin: z.unknown(), total_locked_coin: z.unknown() });
const SUPPLY = z.object({ totalSupply: z.unknown(), totalSupplyAsOf: z.unknown() });

/** Compares a snapshot import with what its Scan says of it: the supply, and the sums of the owners that come first. */
export class ImportCheck {
  readonly #dso: string;
  readonly #sample = new Map<string, Sums>();
  #supply = 0n;
  contracts = 0;

  constructor(dso: string) {
    this.#dso = dso;
  }

  add(decoded: Decoded): void {
    for (const event of decoded.kind === 'update' ? decoded.events : []) {
      this.contracts += 1;
      if (event.kind !== 'Amulet' && event.kind !== 'LockedAmulet') continue;
      if (event.dso !== this.#dso) continue;
      const { signatories, body } = event;
      if (signatories instanceof BadUpdate || body instanceof BadUpdate || !signatories.includes(this.#dso)) continue;
      this.#supply += body.amount;
      if (this.#sample.size < SAMPLE && !this.#sample.has(body.owner))
        this.#sample.set(body.owner, { unlocked: 0n, locked: 0n });
      const sums = this.#sample.get(body.owner);
      if (sums !== undefined) sums[body.entity === 'LockedAmulet' ? 'locked' : 'unlocked'] += body.amount;
    }
  }

  /** Throws FeedRefused for a difference, and AnswerFailure where the Scan says nothing. */
  async compareOwners(client: JsonClient, { text, migrationId }: SnapshotPosition): Promise<void> {
    if (this.#sample.size === 0) return;
    const owner_party_ids = [...this.#sample.keys()];
    const asked = { migration_id: migrationId, record_time: text, owner_party_ids };
    const { summaries } = await client.ask('/v1/holdings/summary', z.object({ summaries: z.array(SUMMARY) }), asked);
    for (const [owner, sums] of this.#sample) {
      const { total_unlocked_coin: unlocked, total_locked_coin: locked } =
        summaries.find(({ party_id }) => party_id === owner) ?? {};
      if (unitsOf(unlocked) === sums.unlocked && unitsOf(locked) === sums.locked) continue;
      const ours = `${formatAmount(sums.unlocked)} unlocked and ${formatAmount(sums.locked)} locked`;
      throw new FeedRefused(
        `the active contracts of ${client.url} at ${text} give ${owner} ${ours}, and its summary says ${unlocked} unlocked and ` +
          `${locked} locked: nothing of this snapshot import is served; begin with another Scan`,
      );
    }
  }

  /** What differs from the Scan's supply, where it says one for the same time. */
  async supplyDifference(client: JsonClient, { text, recordTime }: SnapshotPosition): Promise<string | null> {
    const { totalSupply, totalSupplyAsOf } = await client.ask('//registry/metadata/v1/instruments/Amulet', SUPPLY);
    if (typeof totalSupplyAsOf !== 'string' || parseLedgerTime(totalSupplyAsOf) !== recordTime) return null;
    if (unitsOf(totalSupply) === this.#supply) return null;
    return (
      `the snapshot import of ${text} has a supply of ${formatAmount(this.#supply)}, and ${client.url} says ${totalSupply}: ` +
      'contracts that came from another synchronizer are not in its snapshots'
    );
  }
}

/** A sum in plain digits; unlike an amount it may have any number of them. */
function unitsOf(value: unknown): bigint | null {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,10}))?$/.exec(typeof value === 'string' ? value : '') ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(10, '0'));
}
