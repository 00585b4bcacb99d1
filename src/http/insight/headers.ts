import { createHash } from 'node:crypto';
import type { TableText } from '../../holdings/insight/table.ts';

/** A year, the longest that caches keep anything: the answer never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const TYPES = { json: 'application/json', csv: 'text/csv; charset=utf-8' } as const;

/** Headers of an answer, whether it is sent or already cached; added to those of CORS, which may have their own Vary. */
export function tableHeaders(
  answer: TableText,
  { url, all, vary }: { readonly url: URL; readonly all: boolean; readonly vary: string | undefined },
): Readonly<Record<string, string>> & { readonly ETag: string } {
  const { fixed, next } = answer;
  return {
    'Cache-Control': fixed ? FOR_EVER : 'no-cache',
    ETag: `"${all ? tagOfAll(answer) : answer.digest}"`,
    Vary: vary === undefined ? 'Accept' : `Accept, ${vary}`,
    'Access-Control-Expose-Headers': 'Link, ETag, Content-Disposition',
    ...(next === null || all ? {} : { Link: `<${nextTarget(url, next)}>; rel="next"` }),
  };
}

/** Headers of the body. */
export function bodyHeaders({ fileName }: TableText, form: 'json' | 'csv'): Readonly<Record<string, string>> {
  if (form === 'json') return { 'Content-Type': TYPES.json };
  return { 'Content-Type': TYPES.csv, 'Content-Disposition': `attachment; filename="${fileName}.csv"` };
}

/** The first page, and what the later ones follow from: the token of the next, and the digest of the snapshot they are made of. */
function tagOfAll({ digest, next, snapshotDigest }: TableText): string {
  return createHash('sha256').update(`all ${digest} ${next} ${snapshotDigest}`).digest('base64url');
}

function nextTarget(url: URL, token: string): string {
  const query = new URLSearchParams(url.searchParams);
  query.set('after', token);
  return `${url.pathname}?${query}`;
}

/** Whether the client has cached that representation (If-None-Match). */
export function isKnown(tag: string, header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
}
