import type { UsersConfig } from '../../users/users-config.ts';

/** The version of the Ledger API that this area speaks; official clients adapt to it. */
const API_VERSION = '3.4.0';

/** What this participant can do, in the reference's shape: nothing but users. */
export function versionAnswer({ rightsPerUserMax, usersPageSizeMax }: UsersConfig): object {
  return {
    version: API_VERSION,
    features: {
      experimental: {
        staticTime: { supported: false },
        commandInspectionService: { supported: false },
      },
      userManagement: {
        supported: true,
        maxRightsPerUser: rightsPerUserMax,
        maxUsersPageSize: usersPageSizeMax,
      },
      partyManagement: { maxPartiesPageSize: 0 },
      offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: { seconds: 0, nanos: 0, unknownFields: { fields: {} } } },
      packageFeature: { maxVettedPackagesPageSize: 0 },
    },
  };
}
