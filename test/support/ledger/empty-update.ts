/** A Scan update of migration 0 without events: it only moves time. Seconds after 2025-01-01. */
export function emptyUpdate(synchronizerId: string, second: number): string {
  return JSON.stringify({
    update_id: `${synchronizerId}-${second}`,
    migration_id: 0,
    synchronizer_id: synchronizerId,
    record_time: new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString(),
    effective_at: '2025-01-01T00:00:00Z',
    root_event_ids: [],
    events_by_id: {},
  });
}
