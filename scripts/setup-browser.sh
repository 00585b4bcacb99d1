#!/bin/sh
# Installs Chromium from Debian, for the test of the API page, where it is not there yet and we may. Elsewhere that one
# test fails and says what it needs.
set -eu
[ -x /usr/bin/chromium ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'The test of the API page needs /usr/bin/chromium, which only root can install from Debian.' >&2
  exit 0
fi
echo 'Installing chromium from Debian ...' >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2 ||
  echo 'Chromium could not be installed; the test of the API page will fail.' >&2
