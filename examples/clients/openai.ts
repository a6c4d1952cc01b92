// The official OpenAI client. An agent is a model here.
//   npm install openai
//   node examples/clients/openai.ts [url] [agent]

import { randomUUID } from 'node:crypto'
import OpenAI from 'openai'

const url = process.argv[2] ?? process.env.QUARTERDECK_URL ?? 'http://127.0.0.1:8000'
const model = process.argv[3] ?? 'assistant'
const print = (text: string) => process.stdout.write(text)

// The client requires a key. A server on loopback accepts requests without a key, but not with a wrong one.
const token = process.env.QUARTERDECK_TOKEN
const openai = new OpenAI({
  baseURL: `${url}/v1`,
  apiKey: token ?? 'none',
  ...(token === undefined ? { defaultHeaders: { Authorization: null } } : {}),
})

const models = await openai.models.list()
print(`models: ${models.data.map(({ id }) => id).join(', ')}\n`)

// With a session the server keeps the history, and you send only new messages.
const metadata = { session_id: randomUUID() }
const stream = await openai.chat.completions.create({
  model,
  metadata,
  messages: [{ role: 'user', content: 'Hello!' }],
  stream: true,
})
for await (const chunk of stream) print(chunk.choices[0]?.delta.content ?? '')
print('\n')

const completion = await openai.chat.completions.create({
  model,
  metadata,
  messages: [{ role: 'user', content: 'And again!' }],
})
print(`${completion.choices[0]?.message.content}\n`)

const first = await openai.responses.create({ model, input: 'Hello!' })
const second = await openai.responses.create({ model, input: 'And again!', previous_response_id: first.id })
print(`${first.output_text}\n${second.output_text}\n`)
