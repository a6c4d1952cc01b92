// Our own client: a streamed answer, then a background run with its events and its final state.
//   node examples/clients/quarterdeck-client.ts [url] [agent]

// In your own project: from 'quarterdeck/client'
import { ClientError, createClient } from '../../src/client/client.ts'

const url = process.argv[2] ?? process.env.QUARTERDECK_URL ?? 'http://127.0.0.1:8000'
const agent = process.argv[3] ?? 'assistant'
const token = process.env.QUARTERDECK_TOKEN
const print = (text: string) => process.stdout.write(text)

const client = createClient({ url, ...(token === undefined ? {} : { token }) })

// The answer as a stream. After a lost connection the client resumes by itself.
let session = ''
for await (const event of client.stream(agent, 'Hello!')) {
  if (event.type === 'stream_start') session = event.session_id
  if (event.type === 'message_delta') print(event.delta)
}
print('\n')

// The same session, with the whole answer at once.
const answer = await client.chat(agent, 'And again!', { session })
print(`${answer.content}\n`)

// In the background: this program could end now, and another one could read the events.
const { run_id } = await client.send(session, 'Take your time.')
for await (const { event } of client.events({ run: run_id })) print(`${event.type}\n`)
print(`the run is ${(await client.run(run_id)).status}\n`)

await client.deleteSession(session)
try {
  await client.run(run_id)
} catch (error) {
  if (!(error instanceof ClientError)) throw error
  print(`gone: ${error.code} (${error.status})\n`)
}
