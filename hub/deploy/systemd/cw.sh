#!/bin/sh
# Types a command as the services do: as their user, with their settings, and with the data of the first that is here.
#   install -m 755 hub/deploy/systemd/cw.sh /usr/local/bin/cw
set -eu
for unit in cw-hub cw-scheduler cw-api cw-worker cw-programs; do
    if systemctl --quiet is-enabled "$unit" 2>/dev/null; then break; fi
done
environment=$(systemctl show --property=Environment --value "$unit" | sed 's/[^ ][^ ]*/--setenv=&/g')
# shellcheck disable=SC2086 # one word for each variable
exec systemd-run --quiet --wait --collect --pty --pipe --uid=cw --property=UMask=0077 \
    --property="Delegate=cpu memory pids" --property=OOMPolicy=continue \
    --property=EnvironmentFile=-/etc/circuit-wars.env $environment ${BOT_SECRET:+--setenv=BOT_SECRET} \
    /opt/circuit-wars/bin/cw "$@"
