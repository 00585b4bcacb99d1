import { z } from 'zod';
import { readBounded } from '../bounded-body.ts';
import { formatDuration, parseDuration } from '../ledger/duration.ts';
import { formatTime, parseLedgerTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import { DIGESTS_AT_ONCE, type Replica } from './replica.ts';

const BYTES_MAX = 4 * 1024 * 1024;
/** For one page, its body included. */
const TIMEOUT_MS = 30_000;

const time = z
  .string()
  .transform((text) => parseLedgerTime(text) ?? Number.NaN)
  .pipe(z.number('expected a time'));
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits');

const HEAD = z.object({ period: z.string(), dso: z.string().nullable() });
const PLACES = HEAD.extend({ snapshots: z.array(z.object({ record_time: time })).max(1) });
const PAGE = z.object({
  snapshots: z.array(z.object({ record_time: time, changes_digest: digest, digest })).max(DIGESTS_AT_ONCE),
});

/** The other Holdfast gave no answer, or none that can be used; the message says which. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Another Holdfast, read over HTTP until `stop`. */
export function otherReplica(
  base: URL,
  { stop, timeoutMs = TIMEOUT_MS }: { readonly stop: AbortSignal; readonly timeoutMs?: number },
): Replica {
  const ask = <Answer>(query: Readonly<Record<string, string>>, schema: z.ZodType<Answer>): Promise<Answer | null> =>
    fetchAnswer(snapshotsUrl(base, query), schema, { stop, timeoutMs });
  return {
    async chain(migrationId) {
      const about = { migration_id: String(migrationId), limit: '1' };
      const head = await ask(about, HEAD);
      if (head === null) return null;
      const { period, dso } = head;
      const periodUs = parseDuration(period);
      if (periodUs === null) throw new NoAnswer(`${base}: period: given ${showGiven(period)}, expected a duration`);
      const first = (await ask({ ...about, every: period, order: 'asc' }, PLACES))?.snapshots[0];
      const newest = (await ask({ ...about, every: period, order: 'desc' }, PLACES))?.snapshots[0];
      if (first === undefined || newest === undefined) return null;
      return { migrationId, periodUs, dso, first: first.record_time, newest: newest.record_time };
    },
    async digests({ migrationId, periodUs }, { from, to }) {
      const about = { migration_id: String(migrationId), every: formatDuration(periodUs), order: 'asc' };
      const range = { from: formatTime(from), to: formatTime(to), limit: String(DIGESTS_AT_ONCE) };
      const { snapshots } = (await ask({ ...about, ...range }, PAGE)) ?? { snapshots: [] };
      return snapshots.map((each) => {
        return { recordTime: each.record_time, changesDigest: each.changes_digest, digest: each.digest };
      });
    },
  };
}

function snapshotsUrl(base: URL, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/holdfast/v1/snapshots`;
  url.search = new URLSearchParams(query).toString();
  return url;
}

/** Null where it has no snapshot of the migration. Throws NoAnswer for everything but such an answer. */
async function fetchAnswer<Answer>(
  url: URL,
  schema: z.ZodType<Answer>,
  { stop, timeoutMs }: { readonly stop: AbortSignal; readonly timeoutMs: number },
): Promise<Answer | null> {
  const { status, text } = await fetchText(url, AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]));
  const answer = jsonOf(text);
  const error = typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : null;
  if (status === 404 && error?.startsWith('No snapshots found') === true) return null;
  if (status !== 200) {
    const said = error === null ? '' : ` (${showGiven(error)})`;
    throw new NoAnswer(`${url}: given status ${status}${said}, expected the snapshots of a Holdfast`);
  }
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue!.path.length === 0 ? 'the answer' : issue!.path.join('.');
  throw new NoAnswer(`${url}: ${field}: ${issue!.message}; is it a Holdfast of this version?`);
}

async function fetchText(url: URL, signal: AbortSignal): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { redirect: 'error', signal, headers: { accept: 'application/json' } });
    const body = await readBounded(response.body, BYTES_MAX);
    if (body === null) throw new NoAnswer(`${url}: the answer is larger than ${BYTES_MAX} bytes`);
    return { status: response.status, text: body.toString() };
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    const { message, cause } = error as Error;
    throw new NoAnswer(`${url}: no answer (${cause instanceof Error ? cause.message || message : message})`, {
      cause: error,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
