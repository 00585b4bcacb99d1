#!/bin/sh
# Installs PostgreSQL 15 from Debian, for `npm run bench -- --reference` only. Needs root where it is not there yet.
set -eu
if [ ! -x /usr/lib/postgresql/15/bin/initdb ]; then
  echo 'Installing postgresql-15 from Debian ...' >&2
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-15 >&2
fi
