/** The kinds that name a party, and those that do not (docs/rules.md, fields). */
export const PARTY_KINDS = ['CanActAs', 'CanReadAs', 'CanExecuteAs'] as const;
export const PLAIN_KINDS = [
  'ParticipantAdmin',
  'IdentityProviderAdmin',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
] as const;

export type PartyKind = (typeof PARTY_KINDS)[number];
export type PlainKind = (typeof PLAIN_KINDS)[number];

/** A right of a user. `party` is empty for the kinds that name none. */
export interface Right {
  readonly kind: PartyKind | PlainKind;
  readonly party: string;
}

/** A right as a request may give it: of no kind at all, which only the service refuses, in its own order. */
export type GivenRight = Right | { readonly kind: 'Empty'; readonly party: '' };

const PARTICIPANT_ADMIN_ONLY: ReadonlySet<string> = new Set<PlainKind>([
  'ParticipantAdmin',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
]);

/** Whether only a ParticipantAdmin may grant or revoke this kind. */
export function needsParticipantAdmin(right: GivenRight): boolean {
  return PARTICIPANT_ADMIN_ONLY.has(right.kind);
}

export function isPartyKind(kind: GivenRight['kind']): kind is PartyKind {
  return (PARTY_KINDS as readonly string[]).includes(kind);
}

/** Rights are a set by kind and party; the order of first appearance is kept. */
export function distinctRights(rights: readonly Right[]): readonly Right[] {
  return [...new Map(rights.map((right) => [rightKey(right), right])).values()];
}

/** Two rights are the same where their keys are. */
export function rightKey({ kind, party }: Right): string {
  return `${kind} ${party}`;
}
