#!/bin/sh
# The users of the store, when the database is made; what they may do comes with `holdfast flink migrate`.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat /run/secrets/db)" -U owner -d holdfast <<'SQL'
CREATE ROLE holdfast_writer NOLOGIN;
CREATE ROLE holdfast_reader NOLOGIN;
CREATE ROLE engine LOGIN PASSWORD :'password' IN ROLE holdfast_writer;
CREATE ROLE reader LOGIN PASSWORD :'password' IN ROLE holdfast_reader;
SQL
