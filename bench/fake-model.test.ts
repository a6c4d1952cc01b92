import { request } from 'node:http'
import { expect, test } from 'vitest'
import { createFakeModel, planOf } from './fake-model.ts'
import { listen } from './listen.ts'

test('the last user message says how to answer, otherwise the name of the model', () => {
  const said = (content: string | { type: string; text: string }[]) =>
    planOf({ model: 'fake', messages: [{ role: 'user', content }] })

  expect([
    said('full'),
    said('paced:50 tokens:12'),
    said('silent tokens:12'),
    said([{ type: 'text', text: 'paced:20' }]),
    planOf({ model: 'paced:5', messages: [{ role: 'user', content: 'Good morning' }] }),
    planOf({
      model: 'paced:5',
      messages: [
        { role: 'user', content: 'paced:7' },
        { role: 'assistant', content: 'paced:8' },
        { role: 'user', content: 'full tokens:3' },
      ],
    }),
    planOf({}),
  ]).toEqual([
    { rate: null, tokens: 200 },
    { rate: 50, tokens: 12 },
    { rate: 0, tokens: 12 },
    { rate: 20, tokens: 200 },
    { rate: 5, tokens: 200 },
    { rate: null, tokens: 3 },
    { rate: null, tokens: 200 },
  ])
})

/** The reads of a client, as node:http gives them: one per chunk of the transfer encoding. */
async function post(body: string): Promise<{ status: number | undefined; reads: string[] }> {
  const server = createFakeModel()
  const port = await listen(server, 0)
  try {
    return await new Promise((resolve, reject) => {
      const call = request({ port, path: '/v1/chat/completions', method: 'POST', agent: false }, (response) => {
        const reads: string[] = []
        response.setEncoding('utf8').on('data', (text: string) => reads.push(text))
        response.on('end', () => resolve({ status: response.statusCode, reads }))
      })
      call.on('error', reject)
      // A separate write and end send the body in chunks, as some clients do.
      call.write(body)
      call.end()
    })
  } finally {
    server.close()
  }
}

test('an answer at full speed is a stream of OpenAI chunks in about sixteen writes', async () => {
  const { status, reads } = await post(
    JSON.stringify({ model: 'fake', stream: true, messages: [{ role: 'user', content: 'full tokens:30' }] }),
  )

  const events = reads.join('').split('\n\n').slice(0, -1)
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)))
  expect(status).toBe(200)
  expect(reads.length).toBe(16)
  expect(events.at(-1)).toBe('data: [DONE]')
  expect(new Set(chunks.map((chunk) => `${chunk.object} ${chunk.model} ${chunk.id}`)).size).toBe(1)
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
    Array.from({ length: 30 }, (_, index) => ` ${index}@0`).join(''),
  )
  expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter((reason) => reason !== null)).toEqual([
    'stop',
    undefined,
  ])
  expect(chunks.at(-1).usage).toEqual({ prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 })
})

test('a client that does not ask for a stream gets one object', async () => {
  const { reads } = await post(
    JSON.stringify({ model: 'fake', messages: [{ role: 'user', content: 'full tokens:2' }] }),
  )

  expect(JSON.parse(reads.join('')).choices).toEqual([
    { index: 0, message: { role: 'assistant', content: ' 0@0 1@0', refusal: null }, finish_reason: 'stop' },
  ])
})

test('a body that is not a request is refused with OpenAI’s error object', async () => {
  const { status, reads } = await post('{')

  expect(status).toBe(400)
  expect(JSON.parse(reads.join('')).error.message).toBe(
    'The body is not a JSON object; send a chat completion request.',
  )
})
