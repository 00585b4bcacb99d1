import { invalidValue } from './invalid-value.ts';

export type QueryParameter = 'pageSize' | 'pageToken' | 'identity-provider-id';

/** The query parameters of an operation; an absent one has its default, others are ignored. */
export interface Query {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly identityProviderId: string;
}

export const NO_QUERY: Query = { pageSize: 0, pageToken: '', identityProviderId: '' };

const INT32 = /^[+-]?\d{1,20}$/;
const INT32_MAX = 2_147_483_647;

/** Decodes those that the operation has; throws a 400 for one given twice or a page size that is no int32. */
export function parseQuery(parameters: readonly QueryParameter[], search: string): Query {
  if (parameters.length === 0 || search === '') return NO_QUERY;
  const given = new URLSearchParams(search);
  const one = (name: QueryParameter): string | null => {
    const values = parameters.includes(name) ? given.getAll(name) : [];
    if (values.length > 1) throw invalidValue(`query parameter ${name}`);
    return values[0] ?? null;
  };
  return {
    pageSize: parseInt32(one('pageSize'), 'pageSize'),
    pageToken: one('pageToken') ?? '',
    identityProviderId: one('identity-provider-id') ?? '',
  };
}

function parseInt32(text: string | null, name: QueryParameter): number {
  if (text === null) return 0;
  const value = INT32.test(text) ? Number(text) : Number.NaN;
  if (!(value >= -INT32_MAX - 1 && value <= INT32_MAX)) throw invalidValue(`query parameter ${name}`);
  return value;
}
