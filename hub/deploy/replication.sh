#!/bin/sh
# Lets a replica on the private network follow: PostgreSQL takes `all` for databases alone.
echo "host replication all samenet scram-sha-256" >> "$PGDATA/pg_hba.conf"
