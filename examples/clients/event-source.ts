// A background run, followed with EventSource: after a lost connection it reconnects by itself and misses nothing.
//   node --experimental-eventsource examples/clients/event-source.ts [url]

import { randomUUID } from 'node:crypto'

const url = process.argv[2] ?? process.env.QUARTERDECK_URL ?? 'http://127.0.0.1:8000'
const print = (text: string) => process.stdout.write(text)

interface RunEvent {
  type: string
  delta?: string
  message?: string
}

const sent = await fetch(`${url}/sessions/${randomUUID()}/messages`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ message: 'Hello!' }),
})
if (!sent.ok) throw new Error(await sent.text())
const { run_id }: { run_id: string } = JSON.parse(await sent.text())

/** Reads the events after `after` until `isEnough` is true. Resolves with the id of the last event. */
function watch(after: string | null, isEnough: (event: RunEvent) => boolean): Promise<string> {
  const query = after === null ? '' : `?after=${after}`
  // An EventSource cannot send an Authorization header. If the server requires a token, use fetch or quarterdeck/client.
  const source = new EventSource(`${url}/runs/${run_id}/events${query}`)
  return new Promise((resolve, reject) => {
    source.addEventListener('message', ({ data, lastEventId }) => {
      // Events that arrived before the close are still delivered.
      if (source.readyState === EventSource.CLOSED) return
      const event: RunEvent = JSON.parse(data)
      if (event.type === 'TEXT_MESSAGE_CONTENT') print(event.delta ?? '')
      if (!isEnough(event)) return
      // An open EventSource would connect again. The server would then answer 204, which also ends it.
      source.close()
      resolve(lastEventId)
    })
    source.addEventListener('error', () => {
      // Unless it is closed, it connects again with Last-Event-ID.
      if (source.readyState === EventSource.CLOSED) reject(new Error(`${url} refused the stream`))
      else print('\n[connecting again]\n')
    })
  })
}

// Without this, Node would exit while the EventSource waits to connect again.
const awake = setInterval(() => {}, 60_000)

// A page that is closed in the middle of the answer …
const left = await watch(null, ({ type }) => type === 'TEXT_MESSAGE_CONTENT')
print(`\n[left behind ${left.split('.')[1]}, and back]\n`)
// … and opened again gets only the rest.
await watch(left, ({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')
print('\n')
clearInterval(awake)
