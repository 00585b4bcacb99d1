#!/bin/sh
# Brings Flink, for the tests, the demo and the benchmarks of more than one machine, where it is not there yet, and prints the folder
# of its jars: 310 MB of the distribution that PyPI has, and 12 MB from Maven Central: the connectors, and what the SQL client runs in
# itself (the gateway). They are kept in the user's
# folder of caches, so that every checkout finds them.
set -eu
cd "$(dirname "$0")"
version=2.1.1
distribution=https://files.pythonhosted.org/packages/7f/2d/2984f899c63ae2d2fab35a229ae74ab8fea6810d88d76eeec9a574497fea/apache_flink_libraries-$version.tar.gz
sha256=0a8e42be82a4c601d9eccbb8b10d6253fefbb07fb22cd89af36f00512c685b01
cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast
# Other jars, another folder.
into=$cache/flink-$version-$(cat setup-flink.sh flink/pom.xml | cksum | cut -d' ' -f1)
bring() {
  echo "Bringing Flink $version (320 MB) ..." >&2
  mkdir "$folder/jars" && cp flink/pom.xml "$folder" &&
    curl -sSfL --retry 3 -o "$folder/flink.tar.gz" "$distribution" &&
    echo "$sha256  $folder/flink.tar.gz" | sha256sum -c --quiet >&2 &&
    tar -xzf "$folder/flink.tar.gz" -C "$folder/jars" --no-same-owner --strip-components=3 \
      "apache_flink_libraries-$version/deps/lib" "apache_flink_libraries-$version/deps/opt" &&
    # Each connector's jar has all it needs.
    mvn -q -B -f "$folder/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DexcludeTransitive=true -DoutputDirectory="$folder/jars" >&2 &&
    # Complete, and so renamed. Another one that brought it may have been faster.
    { mv -T "$folder/jars" "$into" 2>/dev/null || [ -d "$into" ]; }
}
if [ ! -d "$into" ]; then
  folder=
  trap 'rm -rf "$folder"' EXIT
  if ! { mkdir -p "$cache" && folder=$(mktemp -d "$cache/flink-XXXXXX") && bring; }; then
    echo 'Flink could not be brought (it needs curl, tar and Maven); the tests of the job will fail.' >&2
    exit 0
  fi
fi
echo "$into"
