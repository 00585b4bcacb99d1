#!/bin/sh
# Installs the locked packages, among them Node 24, unless that was done since the lock file last changed.
# Every npm script starts with this, so that each works as the first command in a fresh clone.
set -eu
cd "$(dirname "$0")/.."
installed=node_modules/.package-lock.json

if [ ! -f "$installed" ] || [ package-lock.json -nt "$installed" ]; then
  echo 'Installing the packages of package-lock.json ...' >&2
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  # The one script that is needed downloads Node; one that is there already spares a third of the time.
  if [ "$(node -p 'process.versions.node.split(".")[0] >= 24')" = true ]; then
    ln -sf "$(node -p process.execPath)" node_modules/.bin/node
  else
    npm rebuild --loglevel=error node >&2
  fi
  touch "$installed"
fi

case "$(node_modules/.bin/node --version 2>/dev/null)" in
  v24.* | v2[5-9].*) ;;
  *)
    echo 'npm did not bring Node 24. Are install scripts turned off? Allow them for the package "node": npm rebuild node' >&2
    exit 1
    ;;
esac
