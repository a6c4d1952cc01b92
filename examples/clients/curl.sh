#!/usr/bin/env bash
# The agent routes, a background run and its events, with nothing but curl.
#   bash examples/clients/curl.sh [url] [agent]
set -euo pipefail

URL="${1:-${QUARTERDECK_URL:-http://127.0.0.1:8000}}"
AGENT="${2:-assistant}"

ask() {
  curl --silent --show-error --fail-with-body ${QUARTERDECK_TOKEN:+-H "Authorization: Bearer $QUARTERDECK_TOKEN"} "$@"
}
# Prints the value of one key of the JSON on stdin. That is enough for ids; for anything else, use jq.
value() {
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

echo '== the whole answer'
ANSWER=$(ask "$URL/agent/$AGENT/chat" -H 'Content-Type: application/json' -d '{"message":"Hello!"}')
echo "$ANSWER"
SESSION=$(echo "$ANSWER" | value session_id)

echo '== the same session, as a stream'
ask -N "$URL/agent/$AGENT/chat/stream" -H 'Content-Type: application/json' \
  -d "{\"message\":\"And again!\",\"session_id\":\"$SESSION\"}"

echo '== a run in the background; the key makes it safe to send this twice'
SENT=$(ask "$URL/sessions/$SESSION/messages" -H 'Content-Type: application/json' \
  -H "Idempotency-Key: $SESSION-third" -d '{"message":"Take your time."}')
echo "$SENT"
RUN=$(echo "$SENT" | value run_id)

echo '== its events, to the end'
EVENTS=$(ask -N "$URL/runs/$RUN/events")
echo "$EVENTS"

echo '== the rest behind its second event, as after a lost connection'
SECOND=$(echo "$EVENTS" | sed -n 's/^id: //p' | sed -n 2p)
ask -N "$URL/runs/$RUN/events" -H "Last-Event-ID: $SECOND"

echo '== its state'
ask "$URL/runs/$RUN"
echo

echo '== and all of it gone'
ask -X DELETE "$URL/sessions/$SESSION" -o /dev/null -w '%{http_code}\n'
