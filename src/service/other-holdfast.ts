import { z } from 'zod';
import { fetchFailure, readBounded } from '../bounded-fetch.ts';
import { isObject, jsonOrNull } from '../json/untrusted.ts';
import { formatDuration, parseDuration } from '../ledger/duration.ts';
import { formatTime, parseLedgerTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import { DIGESTS_AT_ONCE, type Replica } from './compare-digests.ts';

const BYTES_MAX = 4 * 2 ** 20;
/** For one page, its body included. */
const TIMEOUT_MS = 30_000;

const time = z
  .string()
  .transform((text) => parseLedgerTime(text) ?? Number.NaN)
  .pipe(z.number('expected a time'));
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits');

const HEAD = z.object({ period: z.string(), dso: z.string().nullable() });
const PAGE = z.object({
  snapshots: z.array(z.object({ record_time: time, changes_digest: digest, digest })).max(DIGESTS_AT_ONCE),
});

/** Another Holdfast, read over HTTP until `stop`. What it does not answer, or not as expected, is an error that says so. */
export function otherReplica(
  base: URL,
  { stop, timeoutMs = TIMEOUT_MS }: { readonly stop: AbortSignal; readonly timeoutMs?: number },
): Replica {
  const ask = <Answer>(query: Readonly<Record<string, string>>, schema: z.ZodType<Answer>): Promise<Answer | null> =>
    fetchAnswer(snapshotsUrl(base, query), schema, { stop, timeoutMs });
  return {
    async migration(migrationId) {
      const head = await ask({ migration_id: String(migrationId), limit: '1' }, HEAD);
      if (head === null) return null;
      const { period, dso } = head;
      const periodUs = parseDuration(period);
      if (periodUs === null) throw new Error(`${base}: period: given ${showGiven(period)}, expected a duration`);
      return { migrationId, periodUs, dso };
    },
    async digests({ migrationId, periodUs }, { from, to, order, rows }) {
      const about = { migration_id: String(migrationId), every: formatDuration(periodUs) };
      const range = { from: formatTime(from), to: formatTime(to), order, limit: String(rows) };
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

/** Null where it has no snapshot of the migration. Throws for everything but such an answer. */
async function fetchAnswer<Answer>(
  url: URL,
  schema: z.ZodType<Answer>,
  { stop, timeoutMs }: { readonly stop: AbortSignal; readonly timeoutMs: number },
): Promise<Answer | null> {
  const { status, answer } = await askHoldfast(url, AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]));
  const error = isObject(answer) && 'error' in answer ? String(answer.error) : null;
  if (status === 404 && error?.startsWith('No snapshots found') === true) return null;
  if (status !== 200) {
    const said = error === null ? '' : ` (${showGiven(error)})`;
    throw new Error(`${url}: given status ${status}${said}, expected the snapshots of a Holdfast`);
  }
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue!.path.length === 0 ? 'the answer' : issue!.path.join('.');
  throw new Error(`${url}: ${field}: ${issue!.message}; is it a Holdfast of this version?`);
}

/** GETs JSON of another process; null for a body that is none. Throws an error of one line that names the address. */
export async function askHoldfast(url: URL, signal: AbortSignal): Promise<{ status: number; answer: unknown }> {
  try {
    const { status, body } = await fetch(url, { redirect: 'error', signal, headers: { accept: 'application/json' } });
    const bytes = await readBounded(body, BYTES_MAX);
    if (bytes === null) throw new Error(`the answer is larger than ${BYTES_MAX} bytes`);
    return { status, answer: jsonOrNull(bytes.toString()) };
  } catch (error) {
    throw new Error(`${url}: no answer of a Holdfast (${fetchFailure(error)})`, { cause: error });
  }
}
