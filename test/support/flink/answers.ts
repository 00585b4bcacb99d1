import { expect } from 'vitest';
import type { Snapshot } from '../../../src/holdings/facts.ts';
import type { HoldingsService } from '../http/holdings-service.ts';
import { answer, holdingsRequests, type Place, pages, tableRequests } from '../postgres/questions.ts';

/** Asks both stores the same about some snapshots of the newest migration, and about some owners. */
export async function expectEqualAnswers(
  postgres: HoldingsService,
  sqlite: HoldingsService,
  wanted: readonly Snapshot[],
): Promise<void> {
  const newest = wanted.filter(({ migrationId }) => migrationId === wanted.at(-1)!.migrationId);
  const places = newest
    .filter((_, i) => i % 12 === 0 || i === newest.length - 1)
    .map(
      ({ migrationId, recordTime }): Place => ({
        migration_id: migrationId,
        record_time: new Date(recordTime / 1000).toISOString(),
      }),
    );
  const listed = await answer(sqlite, { path: '/holdfast/v1/owners?limit=12' });
  const owners = (JSON.parse(listed.slice(4)) as { owners: { party_id: string }[] }).owners.map(
    ({ party_id }) => party_id,
  );
  for (const place of places) {
    for (const ask of [...holdingsRequests(place, owners), ...tableRequests(place, owners)])
      expect({ ask, answer: await answer(postgres, ask) }).toEqual({ ask, answer: await answer(sqlite, ask) });
    expect(await pages(postgres, place, owners)).toEqual(await pages(sqlite, place, owners));
  }
}
