#!/bin/sh
# Brings Prometheus and promtool from Debian's package, for the tests of the alerts and of Grafana's dashboard, where they are not
# there yet. The package is only unpacked, so that no server starts and nothing of the machine changes. Elsewhere these tests fail
# and say what they need.
set -eu
cd "$(dirname "$0")/.."
into=$PWD/node_modules/.cache/prometheus
if command -v prometheus >/dev/null && command -v promtool >/dev/null || [ -x "$into/usr/bin/promtool" ]; then exit 0; fi
echo 'Bringing prometheus from Debian ...' >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The lists of packages may be missing or old, and only root can renew them.
{ [ "$(id -u)" != 0 ] || apt-get update -qq; } >&2 && (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root prometheus >&2) &&
  mkdir -p "$into" && dpkg-deb -x "$folder"/prometheus_*.deb "$into" ||
  echo 'Prometheus could not be brought; the tests of the alerts and of Grafana'"'"'s dashboard will fail.' >&2
