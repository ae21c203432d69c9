#!/bin/sh
# PgBouncer before the database, for the user PGUSER alone.
set -eu
umask 077
password=$(printf '%s' "$PGPASSWORD" | sed 's/"/""/g')
printf '"%s" "%s"\n' "$PGUSER" "$password" > /tmp/userlist.txt
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
