import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startFlink } from '../support/flink/cluster.ts';

interface Page {
  readonly nextResultUri?: string;
  readonly results?: { readonly data: readonly { readonly fields: readonly unknown[] }[] };
}

it('the cluster of the tests runs what its gateway is sent', async () => {
  await using flink = await startFlink();
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(flink.gateway + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Record<string, string>;
  };
  const { sessionHandle } = await post('/v1/sessions', {});
  const statement = 'SELECT a + 1 FROM (VALUES (41)) AS t(a)';
  const { operationHandle } = await post(`/v1/sessions/${sessionHandle}/statements`, { statement });
  const rows: unknown[] = [];
  let next: string | undefined = `/v1/sessions/${sessionHandle}/operations/${operationHandle}/result/0?rowFormat=JSON`;
  while (next !== undefined) {
    const page: Page = (await (await fetch(flink.gateway + next)).json()) as Page;
    rows.push(...(page.results?.data ?? []).map(({ fields }) => fields));
    next = page.nextResultUri;
    await sleep(50);
  }
  expect(rows).toEqual([[42]]);
});
