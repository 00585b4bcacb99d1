#!/bin/sh
# Brings Prometheus with promtool, Caddy and nginx from Debian's packages, for the tests of the alerts, of Grafana's dashboard and of
# proxies, where they are not there yet. The packages are only unpacked, so that no server starts and nothing of the machine changes.
# Elsewhere these tests fail and say what they need.
set -eu
cd "$(dirname "$0")/.."
into=$PWD/node_modules/.cache/debian
PATH=$PATH:/usr/sbin:$into/usr/bin:$into/usr/sbin
missing=
for package in prometheus caddy nginx; do command -v $package >/dev/null || missing="$missing $package"; done
[ -n "$missing" ] || exit 0
echo "Bringing$missing from Debian ..." >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The lists of packages may be missing or old, and only root can renew them.
{ [ "$(id -u)" != 0 ] || apt-get update -qq; } >&2 &&
  (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root $missing >&2) &&
  mkdir -p "$into" && for file in "$folder"/*.deb; do dpkg-deb -x "$file" "$into"; done ||
  echo "$missing could not be brought; the tests of alerts, dashboards or proxies will fail." >&2
