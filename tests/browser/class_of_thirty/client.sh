#!/usr/bin/env bash
# A client of Circuit Wars in bash with curl.
set -euo pipefail
server=$1 team=$2
borders=(top right bottom left)

get() {
  sleep "$PAUSE"
  curl --silent --show-error "$server/$1"
}

field() { # field NAME: a number of the last answer
  [[ $answer =~ \"$1\":\ *(-?[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

move() { # a free segment of the board of the last answer
  local squares bit at=$((RANDOM % 49)) step square
  [[ $answer =~ \"board\":\ *(.*) ]]
  squares=(${BASH_REMATCH[1]//[^0-9]/ })
  for step in {0..48}; do
    square=$(((at + step) % 49))
    for bit in 0 1 2 3; do
      if ((squares[square] < 16 && !(squares[square] & 1 << bit))); then
        echo "$((square % 7)),$((square / 7)),${borders[bit]}"
        return
      fi
    done
  done
}

answer=$(get "reg/$team")
if [[ $answer != *'"OK"'* ]]; then
  echo "not registered: $answer" >&2
  exit 1
fi
mine=$((200 + $(field player)))
answer=$(get status)
while (($(field status_code) < 300)); do
  if (($(field status_code) == mine)); then
    answer=$(get "move/$team/$(move)")
  else
    answer=$(get status)
  fi
done
field status_code
