import { createHmac, hash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { isObject, jsonOrNull } from '../json/untrusted.ts';
import { readNamed } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { optionName } from '../setting-kinds.ts';
import { showGiven } from '../show-given.ts';
import { counters } from './prometheus.ts';
import { HttpFault } from './routing.ts';

/** Each has a metric of its own. */
const KEYS_MAX = 1_000;
export const REQUESTS_MAX = 1_000_000;
const LOOK_MS = 1_000;

const text = (pattern: RegExp, expected: string) => z.string(expected).regex(pattern, expected);
const rateExpected = `a whole number from 1 to ${REQUESTS_MAX}`;
const rate = z.int(rateExpected).min(1, rateExpected).max(REQUESTS_MAX, rateExpected);
/** `burst`: requests at once; all of a minute unless given. */
const FIELDS = {
  name: text(/^[A-Za-z0-9._-]{1,64}$/, '1-64 of letters, digits, ".", "_" and "-"'),
  sha256: text(/^[0-9a-f]{64}$/, 'the SHA-256 of the key in 64 hex digits of lower case'),
  perMinute: rate,
  burst: rate.optional(),
};
const ENTRY = z
  .strictObject(FIELDS)
  .transform(({ burst, ...entry }) => ({ ...entry, burst: burst ?? entry.perMinute }));
type Entry = z.output<typeof ENTRY>;

/** The lines of `--api-keys-file`. Throws a Refusal that repeats no hash, in whose place somebody may have put the key. */
export function parseApiKeys(file: string, bytes: Buffer): readonly Entry[] {
  const refuse = (what: string): never => {
    throw new Refusal(`${optionName('apiKeysFile')}: ${file}: ${what}`);
  };
  const lines = bytes.toString().split('\n');
  const entries = lines.flatMap((line, at) => (line.trim() === '' ? [] : parseEntry(line, `line ${at + 1}: `, refuse)));
  if (entries.length === 0 || entries.length > KEYS_MAX)
    refuse(`given ${entries.length} keys, expected 1 to ${KEYS_MAX}, each a line as \`holdfast api-key\` writes it`);
  for (const field of ['name', 'sha256'] as const) {
    const twice = [...Map.groupBy(entries, (entry) => entry[field]).values()].find(({ length }) => length > 1);
    if (twice !== undefined) refuse(`${field} of ${showGiven(twice[1]!.name)}: given twice, expected once`);
  }
  return entries;
}

function parseEntry(line: string, where: string, refuse: (what: string) => never): Entry {
  const given = jsonOrNull(line);
  const { data, error } = ENTRY.safeParse(given);
  if (data !== undefined) return data;
  if (!isObject(given)) return refuse(`${where}no JSON object, expected a line as \`holdfast api-key\` writes it`);
  const [issue] = error.issues as [z.core.$ZodIssue];
  if (issue.code === 'unrecognized_keys')
    return refuse(`${where}${showGiven(issue.keys[0])}: no such field, only ${Object.keys(FIELDS).join(', ')}`);
  const name = String(issue.path[0]);
  const shown = name === 'sha256' && name in given ? 'something else' : showGiven(given[name]);
  return refuse(`${where}${name}: given ${shown}, expected ${issue.message}`);
}

/** Who has a key. Requests are taken from what is left, which grows with time up to the burst. */
interface Client extends Entry {
  left: number;
  atMs: number;
  requests: number;
  /** Aborted when the file no longer has the key. */
  readonly revoked: AbortController;
}

/** By Basic a browser asks for the key itself. */
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Holdfast", charset="UTF-8", Bearer realm="Holdfast"' };

export type ApiKeys = ReturnType<typeof openApiKeys>;

/** Reads the file, and again when it changes: where that is bad it is reported, and the keys of before stay. */
export function openApiKeys(
  file: string,
  { registry, logger, clockMs }: { registry: Registry; logger: Logger; clockMs: () => number },
) {
  // A key is searched by what nobody outside can compute, so the time of the search says nothing about others.
  const blinding = randomBytes(32);
  const blinded = (sha256: string): string => createHmac('sha256', blinding).update(sha256).digest('base64');
  let clients = new Map<string, Client>();
  let bytes: Buffer | null = null;
  let failures: readonly string[] = [];

  function read(): void {
    const now = readNamed(optionName('apiKeysFile'), file);
    if (bytes?.equals(now)) return;
    const entries = parseApiKeys(file, now).map((entry): [string, Client] => {
      const id = blinded(entry.sha256);
      const unknown = { left: entry.burst, atMs: clockMs(), requests: 0, revoked: new AbortController() };
      return [id, { ...unknown, ...clients.get(id), ...entry }];
    });
    const before = clients;
    clients = new Map(entries);
    for (const [id, { revoked }] of before) if (!clients.has(id)) revoked.abort();
    bytes = now;
    logger.info({ file, keys: clients.size }, 'the API keys were read');
  }

  function lookAgain(): void {
    try {
      read();
      failures = [];
    } catch (error) {
      const failure = `${(error as Error).message}; the keys of before are still accepted`;
      if (!failures.includes(failure)) logger.error(failure);
      failures = [failure];
    }
  }

  read();
  const looking = setInterval(lookAgain, LOOK_MS).unref();
  const byName = () => Object.fromEntries(clients.values().map(({ name, requests }) => [name, requests]));
  const help = 'Requests of each API key, also those that were too many.';
  counters(registry, { holdfast_api_key_requests_total: { help, label: 'key', read: byName } });
  return {
    /** Takes a request of a key, and returns when that is taken back. Throws a 401 where there is no key, and a 429 for one too many. */
    admit(c: Context): AbortSignal {
      const given = c.req.header('authorization');
      const key = keyOf(given ?? '');
      const client = key && clients.get(blinded(hash('sha256', key)));
      if (client) {
        take(client, clockMs());
        return client.revoked.signal;
      }
      const what = given === undefined ? 'nothing' : key === null ? 'something else' : 'a key that is not known';
      const expected = '"Bearer KEY", or Basic with the key as its password';
      throw new HttpFault(401, `Authorization: given ${what}, expected ${expected}`, CHALLENGE);
    },
    /** Why the file is not used as it is now. */
    failures: () => failures,
    [Symbol.dispose]: () => clearInterval(looking),
  };
}

/** Two headers arrive with a comma between, which no key has. */
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]{1,256})$/i;
const BASIC = /^basic +([A-Za-z0-9+/]{1,1000}={0,2})$/i;

function keyOf(header: string): string | null {
  const [, basic] = BASIC.exec(header) ?? [];
  if (basic === undefined) return BEARER.exec(header)?.[1] ?? null;
  return /^[^:]*:(.+)$/s.exec(Buffer.from(basic, 'base64').toString('latin1'))?.[1] ?? null;
}

function take(client: Client, nowMs: number): void {
  const { name, perMinute, burst } = client;
  client.left = Math.min(burst, client.left + ((nowMs - client.atMs) * perMinute) / 60_000);
  client.atMs = nowMs;
  client.requests += 1;
  if (client.left < 1) {
    const seconds = Math.ceil(((1 - client.left) * 60) / perMinute);
    const given = `key ${name}: given more than ${perMinute} requests a minute, and ${burst} at once`;
    throw new HttpFault(429, `${given}; try again later`, { 'Retry-After': String(seconds) }, { code: 'unavailable' });
  }
  client.left -= 1;
}
