import { encodePageToken } from './page-token.ts';
import type { Given, ParameterName } from './parameters.ts';
import type { Paged, TableName } from './question.ts';

/** The rows of a page, from facts with one more where there is another page; and that page's token, null at the end. */
export function pageOf<Fact>(
  found: readonly Fact[],
  {
    table,
    query,
    migrationId,
    snapshot,
  }: { table: TableName; query: Paged & Partial<Given<ParameterName>>; migrationId: number; snapshot: number },
  nameOf: (fact: Fact, place: number) => string,
): { readonly rows: readonly Fact[]; readonly next: string | null } {
  const { limit } = query;
  if (found.length <= limit) return { rows: found, next: null };
  const last = nameOf(found[limit - 1]!, limit - 1);
  const start = { migrationId: BigInt(migrationId), snapshot: BigInt(snapshot), last };
  return { rows: found.slice(0, limit), next: encodePageToken(table, query, start) };
}
