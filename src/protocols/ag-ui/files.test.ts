import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ModelRequest } from '../../models/model.ts'
import { createGatedModel, text as says, stop } from '../testing/gated-model.ts'
import { eventsOf, openDoors, refusalOf } from '../testing/open-doors.ts'
import { base64, PNG } from '../testing/open-engine-with-files.ts'
import { readSse } from '../testing/sse-reader.ts'

type Part = Record<string, unknown>

async function open() {
  const requests: ModelRequest[] = []
  const doors = await openDoors({ onRequest: (request) => void requests.push(request) })
  const input = (parts: Part[], id = 'm1') => ({
    protocolVersion: '1.0',
    threadId: 'thread',
    runId: `run-${id}`,
    messages: [{ id, role: 'user', content: [{ type: 'text', text: 'Look.' }, ...parts] }],
  })
  return {
    ...doors,
    input,
    say: (parts: Part[], id?: string) => doors.run('/', input(parts, id)),
    told: () => requests.at(-1)?.messages.at(-1)?.content,
    async parts(): Promise<unknown> {
      const session = await doors.engine.sessions.get('local_user', 'thread')
      return (await doors.engine.messages.page(session.id, 10)).find(({ role }) => role === 'user')?.content
    },
    warnings: () => doors.lines.filter(({ level }) => level === 'warn').flatMap(({ warnings }) => warnings),
  }
}

const data = (content: string | Uint8Array, mimeType: string) => ({ type: 'data', value: base64(content), mimeType })
const note = (name = 'note.txt') => ({
  type: 'document',
  source: data('Buy milk.', 'text/plain'),
  metadata: { filename: name },
})
const kept = (type: string, mimeType: string, filename: unknown = expect.any(String)) => ({
  type,
  source: { type: 'file', value: expect.any(String), mimeType },
  metadata: { filename },
})
const linked = (type: string, mimeType: string, filename: string) => ({
  type,
  source: { type: 'url', value: expect.stringMatching(/\/files\/[0-9a-f-]{36}\?key=/), mimeType },
  metadata: { filename },
})
/** The address of the second part. */
function linkIn(content: unknown): string {
  const [, part] = Array.isArray(content) ? content : []
  return String(part?.source?.value)
}
const text = { type: 'text', text: 'Look.' }
const MP3 = Buffer.from([0xff, 0xfb, 0x90, 0, 0, 0, 0, 0])
/** What a message holds of a file that never arrived. */
const NOTHING = { type: 'document', source: { type: 'data', value: '', mimeType: '' } }

const warningsIn = (frames: Parameters<typeof eventsOf>[0]) =>
  eventsOf(frames).flatMap((event) => (event.type === 'CUSTOM' ? [event.value] : []))

describe('content parts', () => {
  test.each<[string, Part, unknown]>([
    ['a document', note(), kept('document', 'text/plain', 'note.txt')],
    ['an image without a name', { type: 'image', source: data(PNG, 'image/png') }, kept('image', 'image/png')],
    [
      'an image that a client takes for a document',
      { type: 'document', source: data(PNG, 'image/png') },
      kept('image', 'image/png'),
    ],
    [
      'a data: URL where base64 is meant',
      { type: 'image', source: { type: 'data', value: `data:image/png;base64,${base64(PNG)}`, mimeType: 'image/png' } },
      kept('image', 'image/png'),
    ],
    [
      'a url that brings its content along',
      { type: 'image', source: { type: 'url', value: `data:image/png;base64,${base64(PNG)}` } },
      kept('image', 'image/png'),
    ],
    [
      'the old binary part',
      { type: 'binary', mimeType: 'text/plain', data: base64('old'), filename: 'old.txt' },
      kept('document', 'text/plain', 'old.txt'),
    ],
  ])('%s is kept, and the message refers to it', async (_what, part, stored) => {
    await using doors = await open()

    const frames = await doors.say([part])

    expect(eventsOf(frames).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(await doors.parts()).toEqual([text, stored])
    expect(doors.warnings()).toEqual([])
  })

  test('reach the model as words, and other clients as files', async () => {
    await using doors = await open()

    const frames = await doors.say([note()])

    expect(doors.told()).toMatch(/^Look\.\n\n[\s\S]*\[file: note\.txt\][\s\S]*Buy milk\./)
    // Nobody is sent the bytes back.
    expect(frames.map(({ data: one }) => one).join()).not.toContain(base64('Buy milk.'))
    const shown = [text, linked('document', 'text/plain', 'note.txt')]
    const hydrated = { protocolVersion: '1.0', threadId: 'thread', runId: 'h', messages: [] }
    const snapshot = eventsOf(await doors.run('/', hydrated)).find(({ type }) => type === 'MESSAGES_SNAPSHOT')
    expect(snapshot).toMatchObject({
      messages: [{ role: 'user', content: shown }, { role: 'activity' }, { role: 'assistant' }],
    })
  })

  test.each([{}, { protocolVersion: '1.0' }])(
    'are there after a reload, at an address of their own (%j)',
    async (spoken) => {
      await using doors = await open()
      await doors.say([{ type: 'image', source: data(PNG, 'image/png'), metadata: { filename: 'dot.png' } }])

      const events = eventsOf(await doors.run('/', { ...spoken, threadId: 'thread', runId: 'h', messages: [] }))

      const snapshot = events.find((event) => event.type === 'MESSAGES_SNAPSHOT')
      expect(snapshot?.messages[0]).toMatchObject({ content: [text, linked('image', 'image/png', 'dot.png')] })
      const url = linkIn(snapshot?.messages[0]?.content)
      expect(url.startsWith(`${doors.url}/files/`)).toBe(true)
      const picture = await fetch(url)
      expect([picture.status, Buffer.from(await picture.arrayBuffer())]).toEqual([200, PNG])
    },
  )

  test('are there after a reload in a run that went on after a crash, in its own snapshot too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [first, second] = [createGatedModel(), createGatedModel()]
    const input = { protocolVersion: '1.0', threadId: 'thread', runId: 'run-1' }
    const content = [text, { type: 'image', source: data(PNG, 'image/png'), metadata: { filename: 'dot.png' } }]
    await using before = await openDoors({ path: join(folder, 'first', 'test.db'), model: first })
    const seen = readSse(await before.post('/', { ...input, messages: [{ id: 'm1', role: 'user', content }] }))
    first.say(says('Half'))
    await seen.until('Half')
    await cp(join(folder, 'first'), join(folder, 'second'), { recursive: true })
    await seen.close()

    await using doors = await openDoors({ path: join(folder, 'second', 'test.db'), model: second })
    await doors.engine.recover()
    const reader = readSse(await doors.post('/', { ...input, runId: 'h', messages: [] }))
    second.say(says('Whole.'), stop)
    const events = eventsOf(await reader.rest())

    const snapshots = events.filter((event) => event.type === 'MESSAGES_SNAPSHOT')
    const shown = [text, linked('image', 'image/png', 'dot.png')]
    expect(snapshots.map(({ messages }) => messages[0]?.content)).toEqual([shown, shown])
  })

  test('are kept when a client sends the address again with an edited message', async () => {
    await using doors = await open()
    await doors.say([note()])
    const events = eventsOf(await doors.run('/', { threadId: 'thread', runId: 'h', messages: [] }))
    const url = linkIn(events.find((event) => event.type === 'MESSAGES_SNAPSHOT')?.messages[0]?.content)

    const edited = {
      id: 'm9',
      role: 'user',
      content: [text, { type: 'document', source: { type: 'url', value: url } }],
    }
    await doors.run('/', { threadId: 'thread', runId: 'run-9', messages: [edited] })

    const session = await doors.engine.sessions.get('local_user', 'thread')
    const [stored] = await doors.engine.messages.known(session.id, ['m9'])
    expect(stored?.content).toEqual([text, kept('document', 'text/plain', 'note.txt')])
    expect(doors.warnings()).toEqual([])
  })

  test('of messages that we have are not kept again', async () => {
    await using doors = await open()
    const first = doors.input([note()])
    await doors.run('/', first)
    const session = await doors.engine.sessions.get('local_user', 'thread')

    const next = { id: 'm2', role: 'user', content: 'And?' }
    await doors.run('/', { ...first, runId: 'run-2', messages: [...first.messages, next] })

    expect(await doors.store.files.ofSession(session.id)).toHaveLength(1)
    expect(doors.told()).toBe('And?')
  })

  test.each([
    (id: string) => ({ type: 'document', source: { type: 'file', value: id } }),
    (id: string) => ({ type: 'binary', mimeType: 'text/plain', id }),
  ])('may refer to what was uploaded before (%#)', async (part) => {
    await using doors = await open()
    const [file] = await doors.attachments.take('local_user', [
      { pointer: '', base64: base64('Uploaded.'), name: 'up.txt', mimeType: null },
    ])

    await doors.say([part(file?.id ?? '')])

    expect(doors.told()).toContain('Uploaded.')
    expect(await doors.parts()).toEqual([text, kept('document', 'text/plain', 'up.txt')])
  })

  test.each<[label: string, name: string, content: string]>([
    ['application/json', 'a.json', '{"Milk": 1}'],
    ['application/yaml', 'a.yaml', 'Milk: 1'],
    ['text/html', 'a.html', '<p>Milk</p>'],
    ['application/xml', 'a.xml', '<Milk/>'],
    ['text/x-python', 'a.py', 'print("Milk")'],
    ['application/rtf', 'a.rtf', '{\\rtf1 Milk}'],
    ['message/rfc822', 'a.eml', 'Subject: Milk\r\n\r\nHello'],
    ['text/calendar', 'a.ics', 'BEGIN:VCALENDAR\r\nSUMMARY:Milk'],
    ['image/svg+xml', 'a.svg', '<svg><text>Milk</text></svg>'],
    ['image/png', 'wrong-label.png', 'Milk, although the label says that it is a picture'],
  ])('of the type %s are read as text', async (label, name, content) => {
    await using doors = await open()

    const frames = await doors.say([{ type: 'document', source: data(content, label), metadata: { filename: name } }])

    expect(doors.told()).toMatch(new RegExp(`\\[file: ${name}\\][\\s\\S]*Milk`))
    expect(await doors.parts()).toEqual([text, kept('document', 'text/plain', name)])
    expect(eventsOf(frames).filter(({ type }) => type === 'CUSTOM')).toEqual([])
  })

  test.each<[string, Part, string]>([
    ['audio', { type: 'audio', source: data(MP3, 'audio/mpeg'), metadata: { filename: 'a.mp3' } }, 'a.mp3'],
    ['audio without a name', { type: 'audio', source: data(MP3, 'audio/mpeg') }, 'audio'],
    ['video', { type: 'video', source: data(MP3, 'video/mp4') }, 'video'],
    [
      'a program',
      { type: 'document', source: data('MZ\0\x01', 'application/x-msdownload'), metadata: { filename: 'a.exe' } },
      'a.exe',
    ],
    ['a part of an unknown type that has a source', { type: 'hologram', source: data(MP3, 'model/x') }, 'file'],
  ])('%s is kept, and named to the model and to the client', async (_what, part, name) => {
    await using doors = await open()

    const frames = await doors.say([part, note()])

    expect(eventsOf(frames).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(doors.told()).toContain(`[file: ${name}]\nThis file could not be read: `)
    expect(doors.told()).toContain('Buy milk.')
    expect(warningsIn(frames)).toEqual([{ code: 'file_unreadable', name, message: expect.stringContaining(name) }])
    expect(await doors.parts()).toEqual([
      text,
      kept('document', 'application/octet-stream', name),
      kept('document', 'text/plain', 'note.txt'),
    ])
  })

  const url = 'https://example.com/a.png'
  test.each<[string, Part, why: string, stored: Part]>([
    [
      'a url',
      { type: 'image', source: { type: 'url', value: url } },
      '"a.png" could not be read: This server does not fetch addresses.',
      { type: 'image', source: { type: 'url', value: url } },
    ],
    [
      'the url of a binary part',
      { type: 'binary', mimeType: 'image/png', url },
      'This server does not fetch addresses.',
      { type: 'image', source: { type: 'url', value: url, mimeType: 'image/png' } },
    ],
    ['a part without a source', { type: 'image' }, 'It was sent without content.', NOTHING],
    ['no base64', { type: 'image', source: { type: 'data', value: '!', mimeType: '' } }, 'Send base64', NOTHING],
    ['an empty file', { type: 'document', source: data('', 'text/plain') }, 'It was sent without content.', NOTHING],
    [
      'an id that nobody knows',
      { type: 'document', source: { type: 'file', value: 'x' } },
      'There is no file',
      NOTHING,
    ],
  ])('%s stays in the message, and is named to the model and to the client', async (_what, part, why, stored) => {
    await using doors = await open()

    const frames = await doors.say([part, note()])

    expect(eventsOf(frames).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(doors.told()).toContain('\nThis file could not be read: ')
    expect(warningsIn(frames)).toEqual([
      { code: 'file_unreadable', name: expect.any(String), message: expect.stringContaining(why) },
    ])
    const metadata = { filename: expect.any(String), unread: expect.any(String) }
    expect(await doors.parts()).toEqual([text, { ...stored, metadata }, kept('document', 'text/plain', 'note.txt')])
    const shown = await doors.run('/', { threadId: 'thread', runId: 'h', messages: [] })
    expect(eventsOf(shown).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  })

  test('a part that is no file is skipped with a warning in the log', async () => {
    await using doors = await open()

    await doors.say([{ type: 'hologram' }, note()])

    expect(doors.warnings()).toEqual([expect.stringContaining('skipped content part at')])
    expect(await doors.parts()).toEqual([text, kept('document', 'text/plain', 'note.txt')])
  })

  test("a file of another session is not read, nor is somebody else's", async () => {
    await using doors = await open()
    const sent = { pointer: '', base64: base64('Secret.'), name: 'a.txt', mimeType: null }
    const [hers] = await doors.attachments.take('ada', [sent])
    const [other] = await doors.attachments.take('local_user', [sent])
    await doors.start('elsewhere', { session: { create: { alias: 'elsewhere' } }, files: [other?.id ?? ''] })

    const frames = await doors.say(
      [hers, other].map((file) => ({ type: 'document', source: { type: 'file', value: file?.id } })),
    )

    expect(warningsIn(frames)).toHaveLength(2)
    expect(await doors.parts()).toEqual([
      text,
      ...Array(2).fill({ ...NOTHING, metadata: { filename: 'file', unread: expect.any(String) } }),
    ])
    expect(doors.told()).not.toContain('Secret.')
  })

  test('that cannot be read do not stop the run, which says so', async () => {
    await using doors = await open()

    const events = eventsOf(await doors.say([note('damaged.txt')]))

    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(events.filter(({ type }) => type === 'ACTIVITY_SNAPSHOT').at(-1)).toMatchObject({
      content: { name: 'damaged.txt', status: 'unreadable', reason: 'It is damaged.' },
    })
  })

  test('that are too large or too many are refused before the stream', async () => {
    await using doors = await open()
    const large = { type: 'document', source: data('x'.repeat(10_000_001), 'text/plain') }

    expect(await refusalOf(await doors.post('/', doors.input([large])))).toEqual({
      status: 413,
      code: 'file_too_large',
    })
    expect(await refusalOf(await doors.post('/', doors.input(Array(11).fill(note()))))).toEqual({
      status: 400,
      code: 'too_many_files',
    })
    expect([doors.engine.stats().runsStarted, await doors.kept()]).toEqual([0, 0])
  })

  test.each(['/copilotkit/agent/tester/run', '/copilotkit'])('are taken at %s too', async (path) => {
    await using doors = await open()
    const asked = doors.input([{ type: 'image', source: data(PNG, 'image/png') }])
    const body = path === '/copilotkit' ? { method: 'agent/run', params: { agentId: 'tester' }, body: asked } : asked

    const frames = await doors.run(path, body)

    expect(eventsOf(frames).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(await doors.parts()).toEqual([text, kept('image', 'image/png')])
  })
})
