#!/bin/sh
# Creates the namespace TEMPORAL_NAMESPACE, unless it exists. Finished runs stay readable for 30 days.
set -eu

name=$TEMPORAL_NAMESPACE
# The port opens before the server can answer.
tries=12
until temporal operator cluster health; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ]; then
        echo "Temporal at $TEMPORAL_ADDRESS is not healthy: see the log of the service temporal" >&2
        exit 1
    fi
    sleep 5
done

temporal operator namespace describe --namespace "$name" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$name" --retention 30d
