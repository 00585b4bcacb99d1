import {
  contentOf,
  createdOf,
  endedBy,
  ownerOf,
  type WireCreated,
  type WireElement,
  type WireEvent,
} from './elements.ts';

/** The filter of a request: parties (null: all that are local), and templates as `Module:Entity`. */
export interface Wanted {
  readonly parties: readonly string[] | null;
  readonly templates: readonly string[];
  /** Those whose views are shown, and whose contracts whatever their template, as `Module:Entity`. */
  readonly interfaces?: readonly string[];
}

export type HoldingVersion = 'V1' | 'V2';

export const interfaceOf = (version: HoldingVersion): string => `Splice.Api.Token.Holding${version}:Holding`;
export const isInterface = (name: string): boolean => name.startsWith('Splice.Api.Token.');

export const TEMPLATES = ['Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet', 'Splice.Round:OpenMiningRound'];

/**
 * What a participant sends of a ledger's lines of format B: the events of contracts with a wanted stakeholder and template, and
 * checkpoints. Folded from the lines alone, without src.
 */
export function seenLines(lines: readonly string[], wanted: Wanted): string[] {
  const seen = new Set<string>();
  return lines.flatMap((line) => {
    const element = JSON.parse(line) as WireElement;
    const { kind, value } = contentOf(element);
    if (kind === 'OffsetCheckpoint') return [line];
    if (kind === 'TopologyTransaction') return [];
    const given = value.events ?? [];
    const events = given.filter((event) => isSeen(event, wanted, seen)).map((event) => withViews(event, wanted));
    if (events.length === 0) return [];
    if (events.length === given.length && events.every((event) => given.includes(event))) return [line];
    return [JSON.stringify({ update: { [kind]: { value: { ...value, events } } } })];
  });
}

function isSeen(event: WireEvent, wanted: Wanted, seen: Set<string>): boolean {
  const created = createdOf(event);
  if (created !== undefined) {
    const isOne = isWanted(created, wanted);
    if (isOne) seen.add(created.contractId);
    // An id may be created again after its archive.
    else seen.delete(created.contractId);
    return isOne;
  }
  const id = event.ArchivedEvent?.contractId ?? event.JsUnassignedEvent?.value.contractId;
  return id !== undefined && seen.has(id);
}

const nameOf = (id: string): string => id.slice(id.indexOf(':') + 1);

function isWanted(created: WireCreated, { parties, templates, interfaces = [] }: Wanted): boolean {
  const { templateId, packageName, signatories, observers, interfaceViews = [] } = created;
  const isOne = packageName === 'splice-amulet' && templates.includes(nameOf(templateId));
  if (!isOne && !interfaceViews.some(({ interfaceId }) => interfaces.includes(nameOf(interfaceId)))) return false;
  return parties === null || [...signatories, ...observers].some((party) => parties.includes(party));
}

/** The event with only those views that are wanted; itself where it has no others. */
function withViews(event: WireEvent, { interfaces = [] }: Wanted): WireEvent {
  const { CreatedEvent, JsAssignmentEvent } = event;
  const { interfaceViews = [] } = createdOf(event) ?? {};
  const views = interfaceViews.filter(({ interfaceId }) => interfaces.includes(nameOf(interfaceId)));
  if (views.length === interfaceViews.length) return event;
  if (CreatedEvent !== undefined) return { CreatedEvent: { ...CreatedEvent, interfaceViews: views } };
  const { createdEvent, ...moved } = JsAssignmentEvent!;
  return { JsAssignmentEvent: { ...moved, createdEvent: { ...createdEvent, interfaceViews: views } } };
}

/** Those lines without the coins of other owners, whose sums would be partial. */
export function followedLines(lines: readonly string[], owners: readonly string[]): string[] {
  const others = new Set<string>();
  return lines.flatMap((line) => {
    const { kind, value } = contentOf(JSON.parse(line) as WireElement);
    if (kind === 'OffsetCheckpoint') return [line];
    const events = value.events.filter((event) => {
      const created = createdOf(event);
      const owner = created && ownerOf(created);
      if (created !== undefined && owner !== undefined && !owners.includes(owner)) others.add(created.contractId);
      else if (created !== undefined) others.delete(created.contractId);
      const id = created?.contractId ?? event.ArchivedEvent?.contractId ?? event.JsUnassignedEvent?.value.contractId;
      return !others.has(id!);
    });
    // An update without its events still moves time.
    return [
      events.length === value.events.length
        ? line
        : JSON.stringify({ update: { [kind]: { value: { ...value, events } } } }),
    ];
  });
}

/** The contracts active after every line up to an offset, in the order of their creates. */
export function activeAt(lines: readonly string[], offset: number): readonly WireCreated[] {
  const active = new Map<string, WireCreated>();
  for (const line of lines) {
    const { kind, value } = contentOf(JSON.parse(line) as WireElement);
    if (kind === 'OffsetCheckpoint' || value.offset > offset) continue;
    for (const event of value.events ?? []) {
      const created = createdOf(event);
      if (created !== undefined && created.acsDelta !== false && !active.has(created.contractId))
        active.set(created.contractId, created);
      const ended = endedBy(event);
      if (ended !== undefined) active.delete(ended);
    }
  }
  return [...active.values()];
}

/** The last record time of each synchronizer up to an offset. */
export function timesAt(lines: readonly string[], offset: number): { synchronizerId: string; recordTime: string }[] {
  const times = new Map<string, string>();
  for (const line of lines) {
    const { kind, value } = contentOf(JSON.parse(line) as WireElement);
    if (kind === 'OffsetCheckpoint' || value.offset > offset || value.recordTime.startsWith('0001')) continue;
    times.set(value.synchronizerId, value.recordTime);
  }
  return [...times].map(([synchronizerId, recordTime]) => ({ synchronizerId, recordTime }));
}
