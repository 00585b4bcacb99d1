#!/bin/sh
# The users of the store, when the database is made, each with a secret of its own; what they may do comes with `holdfast migrate`.
set -eu
psql -v ON_ERROR_STOP=1 -v writer="$(cat /run/secrets/writer)" -v reader="$(cat /run/secrets/reader)" -U owner -d holdfast <<'SQL'
CREATE ROLE holdfast_writer NOLOGIN;
CREATE ROLE holdfast_reader NOLOGIN;
CREATE ROLE writer LOGIN PASSWORD :'writer' IN ROLE holdfast_writer;
CREATE ROLE reader LOGIN PASSWORD :'reader' IN ROLE holdfast_reader;
SQL
