import { z } from 'zod';
import type { UsersOperation } from './operation.ts';
import { PROVIDER_OPERATIONS } from './provider-operations.ts';
import { RIGHT_OPERATIONS } from './right-operations.ts';
import { USER_OPERATIONS } from './user-operations.ts';

/** Every operation of the area that needs a token: routes, document and log follow this list. */
export const USERS_OPERATIONS: readonly UsersOperation[] = [
  ...USER_OPERATIONS,
  ...RIGHT_OPERATIONS,
  ...PROVIDER_OPERATIONS,
];

/** The one that needs none: official clients call it before anything else. */
export const VERSION_OPERATION = {
  operationId: 'getVersion',
  summary: 'Get the version of the API and what the ledger can do',
  method: 'GET',
  path: '/v2/version',
  answer: z.strictObject({ version: z.string(), features: z.looseObject({}) }).meta({ id: 'VersionAnswer' }),
} as const;
