import type { Entity } from '../../ledger/templates.ts';

/** An archive may name no template. */
export type EventKind = `${'create' | 'archive'} ${Entity}` | 'archive';

/** Counts since the process started, for /status and the summary line of a replay. */
export interface Counts {
  /** Updates applied: transactions, reassignments, imports. */
  updates: number;
  /** Creates and archives of coins and rounds applied. */
  events: number;
  /** The same by what they are: `create Amulet`. */
  eventsByKind: Record<EventKind, number>;
  redelivered: number;
  /** Imports that came after their migration's first other update. */
  importsLate: number;
  /** Creates of a contract that was already active with equal content. */
  createsRepeated: number;
  /** Creates of coins or rounds that do not count. */
  counterfeits: number;
  checkpoints: number;
  /** Checkpoints before the migration's first update or before the time reached: they did not move time. */
  checkpointsBehind: number;
  /** Messages skipped because they were dropped or quarantined before. */
  decided: number;
  ignored: Record<string, number>;
}

export function noCounts(): Counts {
  return {
    updates: 0,
    events: 0,
    eventsByKind: {
      'create Amulet': 0,
      'create LockedAmulet': 0,
      'create OpenMiningRound': 0,
      'archive Amulet': 0,
      'archive LockedAmulet': 0,
      'archive OpenMiningRound': 0,
      archive: 0,
    },
    redelivered: 0,
    importsLate: 0,
    createsRepeated: 0,
    counterfeits: 0,
    checkpoints: 0,
    checkpointsBehind: 0,
    decided: 0,
    ignored: {},
  };
}

export function copyCounts(counts: Counts): Counts {
  return { ...counts, eventsByKind: { ...counts.eventsByKind }, ignored: { ...counts.ignored } };
}

export function addIgnored(counts: Counts, what: string, number = 1): void {
  counts.ignored[what] = (counts.ignored[what] ?? 0) + number;
}

const KINDS = {
  create: { Amulet: 'create Amulet', LockedAmulet: 'create LockedAmulet', OpenMiningRound: 'create OpenMiningRound' },
  archive: {
    Amulet: 'archive Amulet',
    LockedAmulet: 'archive LockedAmulet',
    OpenMiningRound: 'archive OpenMiningRound',
  },
} as const;

export function addEvent(counts: Counts, does: 'create' | 'archive', entity: Entity | null): void {
  counts.events += 1;
  counts.eventsByKind[entity === null ? 'archive' : KINDS[does][entity]] += 1;
}
