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

  test.each<[string, Part, string]>([
    ['audio', { type: 'audio', source: data('x', 'audio/mpeg') }, 'skipped content part of the type audio at'],
    ['video', { type: 'video', source: data('x', 'video/mp4') }, 'skipped content part of the type video at'],
    [
      'a url',
      { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } },
      'This server does not fetch addresses',
    ],
    [
      'the url of a binary part',
      { type: 'binary', mimeType: 'image/png', url: 'https://example.com/a.png' },
      'This server does not fetch addresses',
    ],
    ['a part that is not known', { type: 'hologram' }, 'skipped content part at'],
    ['a part without a source', { type: 'image' }, 'skipped content part without a source at'],
    [
      'no base64',
      { type: 'image', source: { type: 'data', value: '!', mimeType: 'image/png' } },
      'skipped a file of message "m1": ',
    ],
    [
      'a label that does not fit',
      { type: 'image', source: data('text', 'image/png') },
      'skipped a file of message "m1": unsupported_media_type',
    ],
    ['an empty file', { type: 'document', source: data('', 'text/plain') }, 'skipped content part without content at'],
    [
      'an id that nobody knows',
      { type: 'document', source: { type: 'file', value: 'x' } },
      'skipped a file of message "m1": file_not_found',
    ],
  ])('%s is skipped with a warning, and the run continues', async (_what, part, warning) => {
    await using doors = await open()

    const frames = await doors.say([part, note()])

    expect(eventsOf(frames).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(doors.warnings()).toEqual([expect.stringContaining(warning)])
    expect(await doors.parts()).toEqual([text, kept('document', 'text/plain', 'note.txt')])
  })

  test("a file of another session is skipped, as is somebody else's", async () => {
    await using doors = await open()
    const sent = { pointer: '', base64: base64('Secret.'), name: 'a.txt', mimeType: null }
    const [hers] = await doors.attachments.take('ada', [sent])
    const [other] = await doors.attachments.take('local_user', [sent])
    await doors.start('elsewhere', { session: { create: { alias: 'elsewhere' } }, files: [other?.id ?? ''] })

    await doors.say([hers, other].map((file) => ({ type: 'document', source: { type: 'file', value: file?.id } })))

    expect(doors.warnings()).toEqual(Array(2).fill('skipped a file of message "m1": file_not_found'))
    expect(doors.told()).toBe('Look.')
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
