#!/bin/sh
# Creates Temporal's two databases and brings their schemas up to date. Needs SQL_PASSWORD; safe to repeat.
set -eu

migrate() {
    database=$1
    schema=$2
    set -- temporal-sql-tool --plugin "$DB" --ep "$POSTGRES_SEEDS" -u "$POSTGRES_USER" -p "$DB_PORT" --db "$database"
    "$@" create
    "$@" setup-schema -v 0.0
    "$@" update-schema -d "/etc/temporal/schema/postgresql/v12/$schema/versioned"
}

migrate temporal temporal
migrate temporal_visibility visibility
