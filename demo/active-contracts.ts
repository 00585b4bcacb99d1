/** The parts of a line of format A that a Scan's answers depend on. */
export interface ScanItem {
  readonly update_id: string;
  readonly record_time: string;
  readonly migration_id?: number;
  readonly synchronizer_id?: string;
  readonly root_event_ids?: readonly string[];
  readonly events_by_id?: Readonly<Record<string, ScanEvent>>;
  readonly event?: {
    readonly migration_id: number;
    readonly source_synchronizer: string;
    readonly target_synchronizer: string;
    readonly created_event?: ScanEvent;
    readonly contract_id?: string;
  };
}

export interface ScanEvent {
  readonly event_type: string;
  readonly contract_id: string;
  readonly template_id: string;
  readonly consuming?: boolean;
  readonly child_event_ids?: readonly string[];
  readonly created_at?: string;
  readonly [other: string]: unknown;
}

/** A contract of a Scan's snapshot, with the update that created it. */
export interface ActiveContract {
  readonly created: ScanEvent;
  /** Null for an import. */
  readonly updateId: string | null;
}

const OURS = ['Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet', 'Splice.Round:OpenMiningRound'];

export function migrationOf(item: ScanItem): number {
  return item.event?.migration_id ?? item.migration_id ?? 0;
}

/**
 * The coins and rounds active in a migration after every update up to a time, as a Scan has them in a snapshot: by creation and
 * contract id. Folded from the lines alone, without src. Times of one length are compared as text.
 */
export function activeContracts(
  lines: readonly string[],
  { migrationId, recordTime }: { migrationId: number; recordTime: string },
): readonly ActiveContract[] {
  const active = new Map<string, ActiveContract>();
  for (const line of lines) {
    const item = JSON.parse(line) as ScanItem;
    if (migrationOf(item) !== migrationId || item.record_time > recordTime) continue;
    const updateId = item.record_time.startsWith('0001') ? null : item.update_id;
    for (const event of eventsOf(item)) {
      if (event.event_type !== 'created_event') active.delete(event.contract_id);
      else if (OURS.includes(event.template_id.slice(event.template_id.indexOf(':') + 1)))
        if (!active.has(event.contract_id)) active.set(event.contract_id, { created: event, updateId });
    }
  }
  const key = ({ created }: ActiveContract): string => `${Date.parse(created.created_at!)} ${created.contract_id}`;
  return [...active.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The creates and archives of an update, depth first. */
function* eventsOf({ event, events_by_id = {}, root_event_ids = [] }: ScanItem): Generator<ScanEvent> {
  if (event?.created_event !== undefined) yield event.created_event;
  if (event?.contract_id !== undefined && event.source_synchronizer === event.target_synchronizer)
    yield { event_type: 'exercised_event', contract_id: event.contract_id, template_id: '' };
  const pending = [...root_event_ids].reverse();
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const each = events_by_id[id]!;
    if (each.event_type === 'created_event' || each.consuming === true) yield each;
    pending.push(...[...(each.child_event_ids ?? [])].reverse());
  }
}

/** A feed of migration 0 that begins with a snapshot import at a time: the seed, and the updates behind it. */
export function seededFeed(lines: readonly string[], { recordTime }: { recordTime: string }): string[] {
  const behind = lines.filter((line) => (JSON.parse(line) as ScanItem).record_time > recordTime);
  return [...seedOf(lines, { recordTime }), ...behind];
}

/** The imports of what is active at a time, and the mark. */
export function seedOf(lines: readonly string[], { recordTime }: { recordTime: string }): string[] {
  return [...seedImports(activeContracts(lines, { migrationId: 0, recordTime }), 0), importMarker(0, recordTime)];
}

/** Contracts as the imports of a seed, without its mark. */
export function seedImports(contracts: readonly ActiveContract[], migrationId: number): string[] {
  return contracts.map(({ created, updateId }) => {
    const id = created.contract_id;
    return JSON.stringify({
      update_id: id,
      migration_id: migrationId,
      record_time: '0001-01-01T00:00:00.000000Z',
      seed: true,
      ...(updateId === null ? {} : { created_in_update_id: updateId }),
      root_event_ids: [`${id}:0`],
      events_by_id: { [`${id}:0`]: { ...created, event_id: `${id}:0` } },
    });
  });
}

/** The end of a seed. */
export function importMarker(
  migrationId: number,
  recordTime: string,
  times: Readonly<Record<string, string>> = {},
): string {
  const synchronizer_times = Object.entries(times).map(([synchronizerId, time]) => ({
    synchronizerId,
    recordTime: time,
  }));
  return JSON.stringify({
    seed: { migration_id: migrationId, record_time: recordTime, synchronizer_times, source: 'test' },
  });
}
