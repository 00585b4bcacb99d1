import type { Answer } from '../../../demo/local-server.ts';
import { contentOf, type WireElement } from './elements.ts';
import { type ApiError, ERRORS, pastEnd, pruned, unknownPackage, unknownTemplate } from './errors.ts';
import { activeAt, seenLines, timesAt, type Wanted } from './participant-ledger.ts';

/** What a participant holds, and how old it is. */
export interface Participant {
  readonly participantId: string;
  readonly localParties: readonly string[];
  /** Null: no token is asked for. */
  readonly token: string | null;
  /** Parties that the token may read; null: any. */
  readonly readAs: readonly string[] | null;
  readonly prunedUpTo: number;
  /** Of the minor version 3.x: it says the times of its end from 6 on. */
  readonly minor: 5 | 6;
  /** The known templates as `Module:Entity`; empty: not even their package is. */
  readonly templates: readonly string[];
  readonly partiesPage: number;
  readonly contractsPage: number;
}

/** Offsets by line: a long ledger is asked for its end again and again. */
const offsets = new Map<string, number>();

export function offsetOf(line: string): number {
  const known = offsets.get(line) ?? contentOf(JSON.parse(line) as WireElement).value.offset;
  offsets.set(line, known);
  return known;
}

/** The rules by which a participant answers, over lines of format B. */
export function createAnswers(participant: () => Participant, lines: () => readonly string[]) {
  const end = (): number => lines().reduce((most, line) => Math.max(most, offsetOf(line)), 0);
  let seen: { readonly of: string; readonly lines: readonly string[] } | null = null;

  /** What was seen last is kept while no update comes. */
  function seenBy(wanted: Wanted): readonly string[] {
    const of = JSON.stringify([wanted, lines().length]);
    if (seen?.of !== of) seen = { of, lines: seenLines(lines(), wanted) };
    return seen.lines;
  }

  /** What a request may see, or why it may not. */
  function wantedBy(eventFormat: Record<string, unknown>): Wanted | ApiError {
    const { readAs, templates } = participant();
    const byParty = eventFormat.filtersByParty as Record<string, { cumulative: unknown[] }> | undefined;
    const forAny = eventFormat.filtersForAnyParty as { cumulative: unknown[] } | undefined;
    const [filter] = byParty === undefined ? [forAny] : Object.values(byParty);
    if (filter === undefined) return ERRORS.invalid;
    const parties = byParty === undefined ? participant().localParties : Object.keys(byParty);
    if (readAs !== null && (byParty === undefined || parties.some((party) => !readAs.includes(party))))
      return ERRORS.denied;
    const asked = (
      filter.cumulative as { identifierFilter: { TemplateFilter: { value: { templateId: string } } } }[]
    ).map(({ identifierFilter }) => identifierFilter.TemplateFilter.value.templateId);
    if (templates.length === 0) return unknownPackage('splice-amulet');
    const unknown = asked.find((name) => !templates.some((known) => name === `#splice-amulet:${known}`));
    if (unknown !== undefined) return unknownTemplate(unknown);
    return { parties, templates: asked.map((name) => name.slice('#splice-amulet:'.length)) };
  }

  return {
    end,
    wantedBy,
    updates(beginExclusive: number, wanted: Wanted): readonly string[] | ApiError {
      if (beginExclusive > end()) return pastEnd(beginExclusive, end());
      if (beginExclusive < participant().prunedUpTo) return pruned(participant().prunedUpTo);
      return seenBy(wanted).filter((line) => offsetOf(line) > beginExclusive);
    },
    checkpoint(): string {
      const offset = end();
      return JSON.stringify({
        update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: timesAt(lines(), offset) } } },
      });
    },
    /** The elements of the contracts active at an offset. */
    contracts(body: Record<string, unknown>): readonly Record<string, unknown>[] | ApiError {
      const wanted = wantedBy(body.eventFormat as Record<string, unknown>);
      if ('status' in wanted) return wanted;
      const offset = Number(body.activeAtOffset);
      if (offset > end()) return pastEnd(offset, end());
      if (offset < participant().prunedUpTo) return pruned(participant().prunedUpTo);
      return activeAt(seenBy(wanted), offset).map((createdEvent, i) => {
        const entry = { synchronizerId: 'global::1220', reassignmentCounter: 0, createdEvent };
        // Some are on their way to another synchronizer.
        const kind = i % 9 === 4 ? 'JsIncompleteUnassigned' : 'JsActiveContract';
        return { workflowId: '', streamContinuationToken: `t${i}`, contractEntry: { [kind]: entry } };
      });
    },
    contractsPage(body: Record<string, unknown>): Answer {
      const all = this.contracts(body);
      if ('status' in all) return all;
      const from = body.pageToken === undefined ? 0 : Number(body.pageToken);
      const size = Math.min(Number(body.maxPageSize), participant().contractsPage);
      const more = from + size < all.length ? { nextPageToken: String(from + size) } : {};
      const activeContracts = all.slice(from, from + size);
      return { status: 200, body: { activeContracts, activeAtOffset: body.activeAtOffset, ...more } };
    },
    ledgerEnd(): Answer {
      const offset = end();
      const times = participant().minor >= 6 ? { synchronizerTimes: timesAt(lines(), offset) } : {};
      return { status: 200, body: { offset, ...times } };
    },
    parties(query: URLSearchParams): Answer {
      const { localParties, partiesPage, readAs } = participant();
      if (readAs !== null) return ERRORS.denied;
      const all = [...localParties.map((party) => ({ party, isLocal: true })), { party: 'far::1220', isLocal: false }];
      const from = Number(query.get('pageToken') ?? 0);
      const next = from + partiesPage < all.length ? String(from + partiesPage) : '';
      return { status: 200, body: { partyDetails: all.slice(from, from + partiesPage), nextPageToken: next } };
    },
    prunedOffsets(): Answer {
      const { prunedUpTo } = participant();
      return {
        status: 200,
        body: { participantPrunedUpToInclusive: prunedUpTo, allDivulgedContractsPrunedUpToInclusive: 0 },
      };
    },
  };
}

export type Answers = ReturnType<typeof createAnswers>;
