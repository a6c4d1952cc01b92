"""Talks to an agent, and loses nothing of an answer if the connection breaks. Needs nothing but Python 3.9.

    python3 client.py "count 5"
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("QUARTERDECK_URL", "http://127.0.0.1:8000")
# The conversation. The same name continues it.
SESSION = "from-python"


def request(path, body=None, headers={}):
    all_headers = {"Content-Type": "application/json", **headers}
    if "QUARTERDECK_TOKEN" in os.environ:
        all_headers["Authorization"] = f"Bearer {os.environ['QUARTERDECK_TOKEN']}"
    data = None if body is None else json.dumps(body).encode()
    # A silent stream gets a comment every 15 seconds, so 60 seconds without data mean that the connection is dead.
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, all_headers), timeout=60)


def send(message):
    """Starts a run. The key makes it safe to repeat the request: it never starts a second one."""
    key = {"Idempotency-Key": str(uuid.uuid4())}
    with request(f"/sessions/{SESSION}/messages", {"message": message}, key) as response:
        return json.load(response)["run_id"]


def events(run_id):
    """Each event of the run once. The run goes on while nobody reads; the last id says where to go on."""
    last = None
    while True:
        try:
            with request(f"/runs/{run_id}/events", headers={"Last-Event-ID": last} if last else {}) as response:
                event_id = None
                for line in response:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name == "id":
                        event_id = value
                    elif name == "data":
                        event = json.loads(value)
                        yield event
                        last = event_id
                        if event["type"] in ("RUN_FINISHED", "RUN_ERROR"):
                            return
        except urllib.error.HTTPError as error:
            if error.code != 503:  # 503: the server is starting
                raise SystemExit(error.read().decode())
        except (OSError, http.client.HTTPException):
            pass  # The connection is lost, or the server is away.
        time.sleep(1)


def main():
    for event in events(send(" ".join(sys.argv[1:]) or "Hello!")):
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            print(event["delta"], end="", flush=True)
        elif event["type"] == "RUN_ERROR":
            raise SystemExit(f"\n{event['code']}: {event['message']}")
        elif event["type"] == "RUN_FINISHED":
            outcome = event.get("outcome") or {}
            for interrupt in outcome.get("interrupts", []):
                print(f"\nThe agent waits for a person: {interrupt['message']}", end="")
    print()


if __name__ == "__main__":
    main()
