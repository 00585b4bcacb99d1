#!/bin/sh
# Starts the job that fills the store, with Flink's own `flink` and `sql-client.sh`, which must be in the PATH, and prints the job's id.
#   start-job.sh [SAVEPOINT]    from the topic's first event, or from a savepoint or a kept checkpoint
# Every ${NAME} of flink/holdings.sql (or of the file HOLDINGS_SQL) is the variable NAME, or the text of the file that NAME_FILE names.
# JOB_NAME must be one name for each store. Exit code 2: a parameter is missing or the job runs already; 1: Flink does not start it.
set -eu
umask 077
fail() {
  echo "start-job: $1" >&2
  exit "${2:-2}"
}

# Prints the SQL with its parameters. In a text every ' is doubled; NAME_OPTIONS is SQL itself.
fill() {
  awk '
    function fail(text) { print "start-job: " text >"/dev/stderr"; failed = 2; exit 2 }
    function value(name,    text, file, line, got) {
      if (name in ENVIRON) text = ENVIRON[name]
      else if ((name "_FILE") in ENVIRON) {
        file = ENVIRON[name "_FILE"]
        while ((got = (getline line <file)) > 0) text = text (text == "" ? "" : "\n") line
        if (got < 0) fail(name "_FILE: cannot read " file)
        close(file)
      } else fail("the parameter " name " is missing: set " name " or " name "_FILE")
      if (name !~ /_OPTIONS$/) gsub(/\047/, "\047\047", text)
      return text
    }
    /^ *--/ { next }
    {
      filled = ""
      rest = $0
      while (match(rest, /\$\{[A-Z_]+\}/)) {
        name = substr(rest, RSTART + 2, RLENGTH - 3)
        filled = filled substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        filled = filled value(name)
      }
      print filled rest
    }
    END { exit failed }' "$1"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
{
  [ -z "${1-}" ] || printf "SET 'execution.state-recovery.path' = '%s';\n" "$1"
  fill "${HOLDINGS_SQL:-$(dirname "$0")/../../flink/holdings.sql}"
} >"$folder/job.sql"

flink list >"$folder/jobs" 2>"$folder/log" || fail "flink list: $(tail -n 1 "$folder/log")" 1
if grep -F " : $JOB_NAME (" "$folder/jobs" >&2; then
  fail "this job runs already: flink stop JOB_ID stops it with a savepoint"
fi
# It repeats every statement, with the password, in its output and in its history.
sql-client.sh embedded --history "$folder/history" -f "$folder/job.sql" >"$folder/said" 2>"$folder/log" || true
id=$(sed -n 's/^Job ID: \([0-9a-f]*\).*/\1/p' "$folder/said")
if [ -z "$id" ]; then
  sed -n '/\[ERROR\]/,/^Shutting down/p' "$folder/said" >&2
  fail "Flink did not start the job" 1
fi
echo "$id"
