#!/bin/sh
# Installs Chromium from Debian, for the test of the API page. Needs root where it is not there yet.
set -eu
if [ ! -x /usr/bin/chromium ]; then
  echo 'Installing chromium from Debian ...' >&2
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >&2
fi
