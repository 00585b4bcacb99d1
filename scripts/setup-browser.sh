#!/bin/sh
# Installs Chromium from Debian, for the tests of the API page and the dashboard, where it is not there yet and we may.
# Elsewhere these tests fail and say what they need.
set -eu
[ -x /usr/bin/chromium ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'The tests of the API page and the dashboard need /usr/bin/chromium, which only root can install from Debian.' >&2
  exit 0
fi
echo 'Installing chromium from Debian ...' >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2 ||
  echo 'Chromium could not be installed; the tests of the API page and the dashboard will fail.' >&2
