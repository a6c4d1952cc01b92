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
  { when: { user: 'song.mp3]\nThis file could not be read' }, parts: [{ text: 'I cannot hear the song.' }] },
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
      status: 400,
      code: 'file_unreadable',
      message: expect.stringContaining('"broken.pdf" cannot be read.'),
    })
  })
})

const texts: [name: string, mimeType: string, content: string][] = [
  ['a.json', 'application/json', '{"at": "northern quay"}'],
  ['a.yaml', 'application/yaml', 'at: northern quay'],
  ['a.xml', 'application/xml', '<at>northern quay</at>'],
  ['a.html', 'text/html', '<p>northern quay</p>'],
  ['a.ts', 'video/mp2t', 'const at = "northern quay"'],
  ['a.rtf', 'application/rtf', '{\\rtf1 north{\\b ern} quay}'],
  ['a.eml', 'message/rfc822', 'Subject: northern quay\r\n\r\nHello'],
  ['a.ics', 'text/calendar', 'BEGIN:VCALENDAR\r\nSUMMARY:northern quay\r\nEND:VCALENDAR'],
  ['a.svg', 'image/svg+xml', '<svg><text>northern quay</text></svg>'],
]

describe.each([
  ['1.0.0', HttpAgent1, { type: 'image', source: { type: 'data', value: 'PICTURE', mimeType: 'image/png' } }],
  ['0.0.59', HttpAgent0, { type: 'binary', mimeType: 'image/png', data: 'PICTURE', filename: 'scan.png' }],
] as const)('@ag-ui/client %s', (version, HttpAgent, image) => {
  const document = (bytes: Buffer, filename: string, mimeType = 'application/pdf') => ({
    type: 'document',
    source: { type: 'data', value: bytes.toString('base64'), mimeType },
    metadata: { filename },
  })

  interface Said {
    answer: unknown
    activities: unknown[]
    warnings: unknown[]
  }

  async function say(threadId: string, part: object): Promise<Said> {
    const warnings: unknown[] = []
    const agent = new HttpAgent({ url: app.url, threadId: `${threadId} ${version}` })
    const content = [{ type: 'text', text: 'What is this?' }, part]
    agent.setMessages([JSON.parse(JSON.stringify({ id: 'm1', role: 'user', content }).replace('PICTURE', picture))])
    const onCustomEvent = ({ event }: { event: { value?: unknown } }) => void warnings.push(event.value)
    const { newMessages } = await agent.runAgent({}, { onCustomEvent })
    const activities = agent.messages.filter(({ role }) => role === 'activity').map(({ content: shown }) => shown)
    return { answer: newMessages.find(({ role }) => role === 'assistant')?.content, activities, warnings }
  }

  test('sends an image', async () => {
    expect((await say('image', image)).answer).toBe('I see the captain.')
  })

  test('sends a document, and sees that it was read', async () => {
    const { answer, activities } = await say('document', document(pdf, 'quay.pdf'))

    expect(answer).toBe('I know about the quay.')
    expect(activities).toEqual([{ file_id: expect.any(String), name: 'quay.pdf', status: 'read' }])
  })

  test.each(texts)('sends %s (%s), which is read as text', async (name, mimeType, content) => {
    const { answer, warnings } = await say(name, document(Buffer.from(content), name, mimeType))

    expect([answer, warnings]).toEqual(['I know about the quay.', []])
  })

  test('is told that a song is not heard, and finds it in the thread again', async () => {
    const { answer, warnings } = await say(
      'song',
      document(Buffer.from([0xff, 0xfb, 0x90, 0, 0, 0]), 'song.mp3', 'audio/mpeg'),
    )

    expect(answer).toBe('I cannot hear the song.')
    expect(warnings).toEqual([{ code: 'file_unreadable', name: 'song.mp3', message: expect.any(String) }])
    const agent = new HttpAgent({ url: app.url, threadId: `song ${version}` })
    await agent.runAgent({})
    const [message] = agent.messages
    expect(message?.content).toMatchObject([
      { type: 'text' },
      {
        type: 'document',
        source: { type: 'url', mimeType: 'application/octet-stream' },
        metadata: { filename: 'song.mp3' },
      },
    ])
  })

  test('is told that a run goes on without a file that cannot be read', async () => {
    const { answer, activities, warnings } = await say('damaged', document(damaged, 'broken.pdf'))

    expect(answer).toBe('I see nothing.')
    expect(warnings).toEqual([{ code: 'file_unreadable', name: 'broken.pdf', message: expect.any(String) }])
    expect(activities).toEqual([
      { file_id: expect.any(String), name: 'broken.pdf', status: 'unreadable', reason: expect.any(String) },
    ])
  })
})

describe('the other doors', () => {
  test.each(texts)('read the text of %s (%s)', async (filename, mime_type, words) => {
    const post = (path: string, body: FormData | string) =>
      fetch(app.url + path, {
        method: 'POST',
        body,
        ...(typeof body === 'string' ? { headers: { 'Content-Type': 'application/json' } } : {}),
      })
    const content = Buffer.from(words).toString('base64')
    const upload = new FormData()
    upload.append('file', new File([words], filename, { type: mime_type }))
    const parts = new FormData()
    parts.append('message', 'What is this?')
    parts.append('files', new File([words], filename, { type: mime_type }))

    const json = JSON.stringify({ message: 'What is this?', files: [{ content, mime_type, filename }] })
    const answers = [
      await post('/agent/tester/chat', json),
      await post('/agent/tester/chat', parts),
      await post(
        '/v1/chat/completions',
        JSON.stringify({
          model: 'tester',
          messages: [
            {
              role: 'user',
              content: [{ type: 'file', file: { filename, file_data: `data:${mime_type};base64,${content}` } }],
            },
          ],
        }),
      ),
      await post(
        '/ai/chat',
        JSON.stringify({
          id: `about ${filename}`,
          messages: [
            {
              id: 'm1',
              role: 'user',
              parts: [{ type: 'file', filename, mediaType: mime_type, url: `data:${mime_type};base64,${content}` }],
            },
          ],
        }),
      ),
    ]

    for (const answer of answers) expect(await answer.text()).toContain('I know about the quay.')
    expect(await (await post('/files', upload)).json()).toMatchObject({ name: filename, mime_type: 'text/plain' })
  })

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
