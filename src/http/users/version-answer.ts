import type { LedgerConfig } from '../../users/ledger-config.ts';

/** The version of the ledger's API that this area speaks; official clients choose their own form by it. */
const API_VERSION = '3.4.0';

/** What the ledger can do, in the reference's shape: of everything but users there is nothing here. */
export function versionAnswer({ rightsPerUserMax, usersPageSizeMax }: LedgerConfig): object {
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
