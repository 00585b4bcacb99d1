/** The first schema of users.db. Ids compare by byte value (BINARY), which is the order of pages. */
export const FIRST_TABLES = `
-- The participant's own name: made once, and the only row there can be.
CREATE TABLE participant (
  lock INTEGER PRIMARY KEY CHECK (lock = 1),
  id TEXT NOT NULL
) STRICT;

CREATE TABLE identity_provider (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  is_deactivated INTEGER NOT NULL CHECK (is_deactivated IN (0, 1)),
  issuer TEXT NOT NULL UNIQUE,
  jwks_url TEXT NOT NULL,
  audience TEXT NOT NULL
) STRICT;

-- identity_provider_id is NULL for the default provider, so that the reference can be enforced for all others: a
-- provider that users still refer to cannot go.
CREATE TABLE user (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  identity_provider_id TEXT REFERENCES identity_provider (id),
  primary_party TEXT NOT NULL,
  is_deactivated INTEGER NOT NULL CHECK (is_deactivated IN (0, 1)),
  primary_party_authentication INTEGER NOT NULL CHECK (primary_party_authentication IN (0, 1)),
  resource_version INTEGER NOT NULL CHECK (resource_version >= 0)
) STRICT;
CREATE INDEX user_of_provider ON user (identity_provider_id, id);

CREATE TABLE user_annotation (
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL CHECK (value <> ''),
  PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;

-- party is empty for the kinds that name none.
CREATE TABLE user_right (
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  party TEXT NOT NULL,
  PRIMARY KEY (user_id, kind, party)
) STRICT, WITHOUT ROWID;

-- The administrator that every ledger starts with. It may be deleted, and then does not come back.
INSERT INTO user VALUES ('participant_admin', NULL, '', 0, 0, 0);
INSERT INTO user_right VALUES ('participant_admin', 'ParticipantAdmin', '');
`;
