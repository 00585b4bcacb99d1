import { z } from 'zod';
import { changeRightsRequest } from '../../users/requests/bodies.ts';
import { documentedRight } from '../../users/requests/values.ts';
import { grantRights, revokeRights } from '../../users/rules/change-rights.ts';
import { listRights } from '../../users/rules/read-users.ts';
import { showRight } from './answers.ts';
import { reading, type UsersOperation, writing } from './operation.ts';
import { checkPathUserId, checkSameUserId } from './request.ts';

const PATH = '/v2/users/{user-id}/rights';
const rights = z.array(documentedRight);

export const RIGHT_OPERATIONS: readonly UsersOperation[] = [
  reading({
    service: 'user',
    operationId: 'listUserRights',
    summary: 'List the rights of a user; a user that is no administrator only has access to its own',
    path: PATH,
    answer: z.strictObject({ rights }).meta({ id: 'ListUserRightsAnswer' }),
    checkIds: checkPathUserId,
    run: (call) => ({ rights: listRights(call).map(showRight) }),
  }),
  writing({
    service: 'user',
    submission: true,
    operationId: 'grantUserRights',
    summary: 'Grant rights to a user; the answer has those it did not have',
    method: 'POST',
    path: PATH,
    body: changeRightsRequest,
    answer: z.strictObject({ newlyGrantedRights: rights }).meta({ id: 'GrantUserRightsAnswer' }),
    checkIds: (ids) => checkSameUserId(ids),
    run: (call) => ({ newlyGrantedRights: grantRights(call).map(showRight) }),
  }),
  writing({
    service: 'user',
    submission: true,
    operationId: 'revokeUserRights',
    summary: 'Revoke rights of a user; the answer has those it had',
    method: 'PATCH',
    path: PATH,
    body: changeRightsRequest,
    answer: z.strictObject({ newlyRevokedRights: rights }).meta({ id: 'RevokeUserRightsAnswer' }),
    checkIds: (ids) => checkSameUserId(ids),
    run: (call) => ({ newlyRevokedRights: revokeRights(call).map(showRight) }),
  }),
];
