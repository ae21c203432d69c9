#!/bin/sh
# A copy of the database at PGHOST, which follows it: made once, then started.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # Fast: else it waits minutes for the next checkpoint.
    until pg_basebackup -c fast -D "$PGDATA" -R; do
        rm -rf "${PGDATA:?}"/*
        sleep 2
    done
fi
chmod 700 "$PGDATA"
exec postgres "$@"
