import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveCaller } from '../../src/users/caller.ts';
import { listIdentityProviders } from '../../src/users/identity-providers.ts';
import { openUsers, type Users } from '../../src/users/open-users.ts';
import type { GivenRight } from '../../src/users/user.ts';
import { EMPTY_USER } from '../../src/users/user-requests.ts';
import {
  createUser,
  deleteUser,
  grantRights,
  listRights,
  listUsers,
  moveUser,
  readUser,
  revokeRights,
  updateUser,
} from '../../src/users/user-rules.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { UsersError } from '../../src/users/users-error.ts';
import type { UsersWriter } from '../../src/users/users-store.ts';

/**
 * Who may do what, written independently of src as one list of reasons to refuse, in a fixed order. It
 * shares nothing with the rules of src: neither code nor the way they are cut.
 */
const PROVIDERS = ['', 'X', 'Y'] as const;
const RIGHT_KINDS = [
  'ParticipantAdmin',
  'IdentityProviderAdmin',
  'CanActAs',
  'CanReadAs',
  'CanExecuteAs',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
] as const;
const OPERATIONS = [
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

type RightKind = (typeof RIGHT_KINDS)[number];

interface Person {
  readonly id: string;
  readonly provider: string;
  readonly rights: readonly RightKind[];
  readonly isDeactivated: boolean;
}

interface Model {
  readonly caller: Person;
  /** Null: there is no such user. */
  readonly target: Person | null;
  /** The provider whose key signed the caller's token. */
  readonly tokenProvider: string;
}

interface Asked {
  readonly operation: (typeof OPERATIONS)[number];
  readonly targetId: string;
  readonly provider: string;
  readonly rights: readonly RightKind[];
}

type Reason = readonly [code: string, holds: boolean];

/** `ok`, or the code of the first reason that applies. */
function allowed(model: Model, asked: Asked): string {
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

let users: Users;
let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-rules-'));
  const config = parseUsersConfig({ value: undefined, folder: dataDir });
  users = openUsers({ dataDir, config, participantId: null, logger: pino({ level: 'silent' }) });
});
afterAll(() => {
  users[Symbol.dispose]();
  rmSync(dataDir, { recursive: true });
});

/** Undoes everything a run has done. */
class Undo extends Error {}

function populate(writer: UsersWriter, model: Model): void {
  for (const id of ['X', 'Y'])
    writer.insertIdentityProvider({ id, isDeactivated: false, issuer: id, jwksUrl: 'https://x.example', audience: '' });
  for (const user of [model.caller, model.target]) {
    if (user === null || writer.user(user.id) !== null) continue;
    writer.insertUser({
      ...EMPTY_USER,
      id: user.id,
      identityProviderId: user.provider,
      isDeactivated: user.isDeactivated,
      resourceVersion: 0n,
    });
    for (const kind of user.rights) writer.grantRight(user.id, { kind, party: kind.endsWith('As') ? 'p' : '' });
  }
}

/** What the rules say: `ok`, or the code of the error. */
function outcome(model: Model, asked: Asked): string {
  let said = '';
  try {
    users.write((writer) => {
      populate(writer, model);
      try {
        run(writer, model, asked);
        said = 'ok';
      } catch (error) {
        if (!(error instanceof UsersError)) throw error;
        said = error.code;
      }
      throw new Undo();
    });
  } catch (error) {
    if (!(error instanceof Undo)) throw error;
  }
  return said;
}

function run(writer: UsersWriter, { caller: who, tokenProvider }: Model, asked: Asked): void {
  const caller = resolveCaller(writer, { userId: who.id, identityProviderId: tokenProvider, participantId: null });
  const { targetId: userId, provider: identityProviderId } = asked;
  const rights = asked.rights.map((kind): GivenRight => ({ kind, party: kind.endsWith('As') ? 'p' : '' }));
  const user = { ...EMPTY_USER, id: userId, identityProviderId };
  const call = {
    users: writer,
    caller,
    config: users.config,
    id: userId,
    query: { pageSize: 0, pageToken: '', identityProviderId },
    body: null,
  };
  switch (asked.operation) {
    case 'create':
      createUser({ ...call, body: { user, rights } });
      return;
    case 'read':
      readUser(call);
      return;
    case 'read own':
      readUser({ ...call, id: caller.userId });
      return;
    case 'list':
      listUsers(call);
      return;
    case 'update':
      updateUser({ ...call, body: { user, updatePaths: ['primary_party'] } });
      return;
    case 'delete':
      deleteUser(call);
      return;
    case 'list rights':
      listRights(call);
      return;
    case 'grant':
      grantRights({ ...call, body: { userId, rights, identityProviderId } });
      return;
    case 'revoke':
      revokeRights({ ...call, body: { userId, rights, identityProviderId } });
      return;
    case 'move': {
      const body = { userId, sourceIdentityProviderId: identityProviderId, targetIdentityProviderId: 'Y' };
      moveUser({ ...call, body });
      return;
    }
    case 'list providers':
      listIdentityProviders(call);
  }
}

const provider = fc.constantFrom(...PROVIDERS);
const kinds = fc.uniqueArray(fc.constantFrom(...RIGHT_KINDS), { maxLength: 3 });
const callerKinds = fc.oneof(kinds, fc.constantFrom<RightKind[]>(['ParticipantAdmin'], ['IdentityProviderAdmin'], []));
const askedKinds = fc.oneof(
  kinds,
  fc.constantFrom<RightKind[]>(['CanActAs'], ['CanReadAs', 'CanExecuteAs'], ['CanExecuteAs']),
);
const usuallyNot = fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0);
const models = fc.record({
  caller: fc.record({ id: fc.constant('caller'), provider, rights: callerKinds, isDeactivated: usuallyNot }),
  target: fc.option(fc.record({ id: fc.constant('target'), provider, rights: kinds, isDeactivated: usuallyNot })),
  sameProvider: fc.integer({ min: 0, max: 9 }),
  otherProvider: provider,
});
const requests = fc.record({
  operation: fc.constantFrom(...OPERATIONS, 'create' as const, 'grant' as const),
  targetId: fc.constantFrom('caller', 'target', 'target', 'nosuchuser'),
  provider: fc.constantFrom('', '', 'X', 'Y', 'nowhere', 'a,b'),
  rights: askedKinds,
});

describe('the rules of who may do what', () => {
  it('are those of an independent model, for every caller, target and request', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(models, requests, ({ sameProvider, otherProvider, ...people }, asked) => {
        const model = { ...people, tokenProvider: sameProvider > 0 ? people.caller.provider : otherProvider };
        const expected = allowed(model, asked);
        seen.set(expected, (seen.get(expected) ?? 0) + 1);
        expect(outcome(model, asked)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    // The runs are worth something only where they meet every kind of outcome.
    const met = ['ok', 'PERMISSION_DENIED', 'INVALID_TOKEN', 'INVALID_ARGUMENT', 'USER_NOT_FOUND', 'UNKNOWN_RESOURCE'];
    for (const code of met) expect(seen.get(code) ?? 0, code).toBeGreaterThan(5);
  });
});
