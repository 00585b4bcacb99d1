/**
 * Who may do what, written independently of src as one list of reasons to refuse, in a fixed order. It
 * shares nothing with the rules of src: neither code nor the way they are cut.
 */
export const PROVIDERS = ['', 'X', 'Y'] as const;
export const RIGHT_KINDS = [
  'ParticipantAdmin',
  'IdentityProviderAdmin',
  'CanActAs',
  'CanReadAs',
  'CanExecuteAs',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
] as const;
export const OPERATIONS = [
  'create',
  'read',
  'read own',
  'list',
  'update',
  'delete',
  'list rights',
  'grant',
  'revoke',
  'move',
  'list providers',
] as const;

export type RightKind = (typeof RIGHT_KINDS)[number];

interface Person {
  readonly id: string;
  readonly provider: string;
  readonly rights: readonly RightKind[];
  readonly isDeactivated: boolean;
}

export interface Model {
  readonly caller: Person;
  /** Null: there is no such user. */
  readonly target: Person | null;
  /** The provider whose key signed the caller's token. */
  readonly tokenProvider: string;
}

export interface Asked {
  readonly operation: (typeof OPERATIONS)[number];
  readonly targetId: string;
  readonly provider: string;
  readonly rights: readonly RightKind[];
}

type Reason = readonly [code: string, holds: boolean];

/** `ok`, or the code of the first reason that applies. */
export function allowed(model: Model, asked: Asked): string {
  return reasons(model, asked).find(([, holds]) => holds)?.[0] ?? 'ok';
}

function reasons({ caller, target, tokenProvider }: Model, asked: Asked): readonly Reason[] {
  const { operation, rights } = asked;
  const targetId = operation === 'read own' ? caller.id : asked.targetId;
  const person = [caller, target].find((someone) => someone?.id === targetId) ?? null;
  const admin = caller.rights.includes('ParticipantAdmin');
  const providerAdmin = caller.rights.includes('IdentityProviderAdmin') && caller.provider !== '';
  const administers = admin || providerAdmin;

  // The requests that cannot name a provider are about none.
  const named = ['list', 'delete', 'list rights'].includes(operation) ? '' : asked.provider;
  const meant = named === '' && !admin ? caller.provider : named;
  const aboutUsers = operation !== 'move' && operation !== 'list providers';

  const gives = operation === 'create' || operation === 'grant';
  const strong = ['ParticipantAdmin', 'CanReadAsAnyParty', 'CanExecuteAsAnyParty', 'CanActAsAnyParty'];
  const namesStrong = (gives || operation === 'revoke') && rights.some((kind) => strong.includes(kind));
  const needsAdmin = namesStrong || !aboutUsers;
  const needsAdministration =
    !(['read', 'list rights'].includes(operation) && targetId === caller.id) && operation !== 'read own';
  const needsProvider = operation === 'create' || operation === 'update';
  const needsPerson = !['create', 'list', 'list providers'].includes(operation);
  const denied = 'PERMISSION_DENIED';

  return [
    [denied, tokenProvider !== caller.provider],
    [denied, caller.isDeactivated],
    [denied, needsAdmin && !admin],
    [denied, !needsAdmin && needsAdministration && !administers],
    ['INVALID_TOKEN', aboutUsers && named === 'a,b'],
    [denied, aboutUsers && caller.provider !== '' && meant !== caller.provider],
    ['INVALID_FIELD', operation === 'move' && named === 'a,b'],
    ['INVALID_ARGUMENT', (needsProvider || operation === 'move') && meant === 'nowhere'],
    ['INVALID_ARGUMENT', operation === 'delete' && targetId === caller.id],
    ['INVALID_ARGUMENT', operation === 'revoke' && targetId === caller.id && rights.includes('ParticipantAdmin')],
    ['UNKNOWN_RESOURCE', gives && !admin && (rights.includes('CanActAs') || rights.includes('CanReadAs'))],
    [denied, operation === 'create' && person !== null && person.provider !== meant],
    ['USER_ALREADY_EXISTS', operation === 'create' && person !== null],
    ['USER_NOT_FOUND', needsPerson && person === null],
    [denied, needsPerson && person?.provider !== (operation === 'move' ? asked.provider : meant)],
  ];
}
