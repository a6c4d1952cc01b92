// Files that people attach, from the real clients through the whole server: they are kept, read in a separate process, and shown to
// the model.

import { HttpAgent as HttpAgent1 } from '@ag-ui/client'
import { HttpAgent as HttpAgent0 } from '@ag-ui/client-0'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scan } from '../../src/files/formats/image/testing/scan.ts'
import { pdfOf } from '../../src/files/formats/pdf/testing/pdf.ts'
import { startScriptedApp } from './scripted-app.ts'

// The model gives each answer only if it was told what is in the file.
const answers = [
  { when: { user: 'Captain Halvorsen' }, parts: [{ text: 'I see the captain.' }] },
  { when: { user: 'northern quay' }, parts: [{ text: 'I know about the quay.' }] },
  { when: { user: 'What is this?' }, parts: [{ text: 'I see nothing.' }] },
]

let app: Awaited<ReturnType<typeof startScriptedApp>>
let picture: string
const pdf = pdfOf([{ lines: ['In March the northern quay was closed for repairs.'] }])
const damaged = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2_000, 'x')])

beforeAll(async () => {
  app = await startScriptedApp(answers)
  picture = (await scan('Captain Halvorsen wrote to the board.').png().toBuffer()).toString('base64')
})
afterAll(() => app[Symbol.asyncDispose]())

const form = (...files: [name: string, content: Buffer][]) => {
  const parts = new FormData()
  parts.append('message', 'What is this?')
  for (const [name, content] of files) parts.append('files', new File([new Uint8Array(content)], name))
  return parts
}

describe('the official OpenAI client', () => {
  const withoutKey: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers)
    headers.delete('Authorization')
    return fetch(url, { ...init, headers })
  }
  const connect = () => new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', fetch: withoutKey, maxRetries: 0 })

  test('sends an image to chat completions', async () => {
    const url = `data:image/png;base64,${picture}`

    const { choices } = await connect().chat.completions.create({
      model: 'tester',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    })

    expect(choices[0]?.message.content).toBe('I see the captain.')
  })

  test('sends a PDF to chat completions and to responses', async () => {
    const file = { filename: 'quay.pdf', file_data: `data:application/pdf;base64,${pdf.toString('base64')}` }
    const client = connect()

    const { choices } = await client.chat.completions.create({
      model: 'tester',
      messages: [{ role: 'user', content: [{ type: 'file', file }] }],
    })
    const response = await client.responses.create({
      model: 'tester',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What?' },
            { type: 'input_file', ...file },
          ],
        },
      ],
    })

    expect(choices[0]?.message.content).toBe('I know about the quay.')
    expect(response.output_text).toBe('I know about the quay.')
  })

  test('is told which file cannot be read', async () => {
    const file = { filename: 'broken.pdf', file_data: damaged.toString('base64') }

    const asked = connect().chat.completions.create({
      model: 'tester',
      messages: [{ role: 'user', content: [{ type: 'file', file }] }],
    })

    await expect(asked).rejects.toMatchObject({
      status: 422,
      code: 'file_unreadable',
      message: expect.stringContaining('"broken.pdf" cannot be read.'),
    })
  })
})

describe.each([
  ['1.0.0', HttpAgent1, { type: 'image', source: { type: 'data', value: 'PICTURE', mimeType: 'image/png' } }],
  ['0.0.59', HttpAgent0, { type: 'binary', mimeType: 'image/png', data: 'PICTURE', filename: 'scan.png' }],
] as const)('@ag-ui/client %s', (version, HttpAgent, image) => {
  const document = (bytes: Buffer, filename: string) => ({
    type: 'document',
    source: { type: 'data', value: bytes.toString('base64'), mimeType: 'application/pdf' },
    metadata: { filename },
  })

  async function say(threadId: string, part: object): Promise<{ answer: unknown; activities: unknown[] }> {
    const agent = new HttpAgent({ url: app.url, threadId: `${threadId} ${version}` })
    const content = [{ type: 'text', text: 'What is this?' }, part]
    agent.setMessages([JSON.parse(JSON.stringify({ id: 'm1', role: 'user', content }).replace('PICTURE', picture))])
    const { newMessages } = await agent.runAgent({})
    const activities = agent.messages.filter(({ role }) => role === 'activity').map(({ content: shown }) => shown)
    return { answer: newMessages.find(({ role }) => role === 'assistant')?.content, activities }
  }

  test('sends an image', async () => {
    expect((await say('image', image)).answer).toBe('I see the captain.')
  })

  test('sends a document, and sees that it was read', async () => {
    const { answer, activities } = await say('document', document(pdf, 'quay.pdf'))

    expect(answer).toBe('I know about the quay.')
    expect(activities).toEqual([{ file_id: expect.any(String), name: 'quay.pdf', status: 'read' }])
  })

  test('is told that a run goes on without a file that cannot be read', async () => {
    const { answer, activities } = await say('damaged', document(damaged, 'broken.pdf'))

    expect(answer).toBe('I see nothing.')
    expect(activities).toEqual([
      { file_id: expect.any(String), name: 'broken.pdf', status: 'unreadable', reason: expect.any(String) },
    ])
  })
})

describe('the other doors', () => {
  test('take a form with files', async () => {
    const chat = `${app.url}/agent/tester/chat`

    const whole = await fetch(chat, { method: 'POST', body: form(['quay.pdf', pdf]) })
    const stream = await fetch(`${chat}/stream`, { method: 'POST', body: form(['quay.pdf', pdf]) })
    const refused = await fetch(chat, { method: 'POST', body: form(['quay.pdf', pdf], ['broken.pdf', damaged]) })

    expect(await whole.json()).toMatchObject({ content: 'I know about the quay.' })
    expect(await stream.text()).toContain('I know about the quay.')
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: 'file_unreadable', name: 'broken.pdf' }])
  })

  test('know what was uploaded, until its session ends', async () => {
    const upload = new FormData()
    upload.append('file', new File([new Uint8Array(pdf)], 'quay.pdf'))
    const post = (path: string, body: FormData | string, type?: string) =>
      fetch(app.url + path, {
        method: 'POST',
        body,
        ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
      })
    const { file_id } = (await (await post('/files', upload)).json()) as { file_id: string }

    const body = JSON.stringify({ message: 'What is this?', files: [{ file_id }] })
    const sent = await post('/sessions/uploads/messages', body, 'application/json')
    const { run_id } = (await sent.json()) as { run_id: string }
    const events = await (await fetch(`${app.url}/runs/${run_id}/events`)).text()

    expect(sent.status).toBe(202)
    expect(events).toContain('I know about the quay.')
    expect((await fetch(`${app.url}/files/${file_id}`)).status).toBe(200)
    await fetch(`${app.url}/sessions/uploads`, { method: 'DELETE' })
    expect((await fetch(`${app.url}/files/${file_id}`)).status).toBe(404)
  })
})
