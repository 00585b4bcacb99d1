#!/bin/sh
# Installs PostgreSQL 15 from Debian, for the tests of the store in it and for `npm run bench -- --reference`, where it is not there
# yet and we may. Elsewhere these fail and say what they need.
set -eu
[ -x /usr/lib/postgresql/15/bin/initdb ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'The tests of the store in PostgreSQL need /usr/lib/postgresql/15/bin/initdb, which only root can install from Debian.' >&2
  exit 0
fi
echo 'Installing postgresql-15 from Debian ...' >&2
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends "$1" >&2; }
apt-get update -qq >&2 && install postgresql-common &&
  # The package would make a cluster of its own and start it: tests have theirs.
  sed -i 's/^#* *create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf &&
  install postgresql-15 ||
  echo 'PostgreSQL could not be installed; the tests of the store in it will fail.' >&2
