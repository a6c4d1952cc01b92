import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { FileRecord } from '../../../domain/session/file.ts'
import type { TestEngineOptions } from '../../../engine/testing/open-engine.ts'
import { startServer, until } from '../../../http/testing/server-fixture.ts'
import { createAgentCoreRoutes } from '../../ag-ui/agent-core/routes.ts'
import { createCopilotKitRoutes } from '../../ag-ui/copilotkit/routes.ts'
import { createAgUiRoutes } from '../../ag-ui/routes.ts'
import { createAgentRoutes } from '../../agent/routes.ts'
import { createSessionRoutes } from '../../manage/sessions/routes.ts'
import { createOpenAiRoutes } from '../../openai/routes.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { openEngineWithFiles } from '../../testing/open-engine-with-files.ts'
import { readSse } from '../../testing/sse-reader.ts'
import type { Attachments } from './attachments.ts'

const BODY_BYTES = 200_000

/** All doors that take files, with little room for what is no file. */
async function openAll(options: TestEngineOptions = {}) {
  const opened = openEngineWithFiles(options)
  const taken: FileRecord[] = []
  const attachments: Attachments = {
    ...opened.attachments,
    async take(...args) {
      const files = await opened.attachments.take(...args)
      taken.push(...files)
      return files
    },
  }
  const deps = { ...opened, attachments, version: '0.0.0-test' }
  const server = await startServer({
    routes: [
      ...createAgUiRoutes(deps),
      ...createCopilotKitRoutes(deps),
      ...createSessionRoutes(deps),
      ...createAgentRoutes(deps),
      ...createAgentCoreRoutes(deps),
      ...createOpenAiRoutes(deps),
    ],
    limits: { bodyBytes: BODY_BYTES },
  })
  return {
    ...opened,
    tempFiles: server.tempFiles,
    lines: server.lines,
    /** What was kept, by the hash of its bytes. */
    kept: () => Promise.all(taken.map(async (file) => sha256(await readFile((await opened.keeper.open(file)).path)))),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: async () => {
      await opened.engine.drain(0)
      await server[Symbol.asyncDispose]()
      await opened.close()
    },
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const pdf = (bytes: number): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(bytes)])
const base64 = (bytes: Buffer): string => bytes.toString('base64')
const url = (bytes: Buffer): string => `data:application/pdf;base64,${base64(bytes)}`
const agUi = (content: unknown, more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId: 'run',
  messages: [{ id: 'm1', role: 'user', content }],
  ...more,
})
const part = (value: string) => ({ type: 'document', source: { type: 'data', value, mimeType: 'application/pdf' } })
const agUiParts = (files: Buffer[]) => [
  { type: 'text', text: 'Read.' },
  ...files.map(
    (file, i) =>
      [
        part(base64(file)),
        part(url(file)),
        { type: 'document', source: { type: 'url', value: url(file) } },
        { type: 'binary', mimeType: 'application/pdf', data: base64(file) },
      ][i],
  ),
]
const sent = (files: Buffer[]) => ({
  message: 'Read.',
  files: files.map((file, i) => ({ content: base64(file), mime_type: 'application/pdf', filename: `${i}.pdf` })),
})

/** For most what base64 alone is, or a `data:` URL. */
const doors: [string, string, (files: Buffer[]) => unknown][] = [
  ['the agent routes', '/agent/tester/chat', sent],
  ['the sessions', '/sessions/large/messages', sent],
  ['AG-UI', '/', (files) => agUi(agUiParts(files))],
  ['CopilotKit', '/copilotkit/agent/tester/run', (files) => agUi(agUiParts(files))],
  [
    'CopilotKit in one route',
    '/copilotkit',
    (files) => ({ method: 'agent/run', params: { agentId: 'tester' }, body: agUi(agUiParts(files)) }),
  ],
  ['AgentCore', '/invocations', (files) => agUi(agUiParts(files))],
  [
    'chat completions',
    '/v1/chat/completions',
    (files) => ({
      messages: [
        {
          role: 'user',
          content: files.map(
            (file, i) =>
              [
                { type: 'file', file: { file_data: url(file), filename: 'a.pdf' } },
                { type: 'image_url', image_url: { url: url(file) } },
                { type: 'image_url', image_url: url(file) },
                { type: 'file', file: { file_data: base64(file) } },
              ][i],
          ),
        },
      ],
    }),
  ],
  [
    'responses',
    '/v1/responses',
    (files) => ({
      input: [
        {
          role: 'user',
          content: files.map(
            (file, i) =>
              [
                { type: 'input_file', file_data: base64(file), filename: 'a.pdf' },
                { type: 'input_image', image_url: url(file) },
                { type: 'input_file', file_data: url(file) },
                { type: 'input_file', file_data: base64(file) },
              ][i],
          ),
        },
      ],
    }),
  ],
]

describe('files in a large body', () => {
  test.each(doors)('arrive at %s byte for byte', async (_name, path, bodyOf) => {
    await using all = await openAll()
    const files = [2_000_000, 1_000_001, 500_000, 60_000].map(pdf)

    // As PHP writes it.
    const response = await all.post(path, JSON.stringify(bodyOf(files)).replaceAll('/', '\\/'))
    await response.text()

    expect(response.status).toBeLessThan(300)
    expect(await all.kept()).toEqual(files.map(sha256))
    expect(await all.tempFiles()).toEqual({ names: [], begun: 1, open: 0 })
  })

  test('do not block a stream that continues', async () => {
    const model = createGatedModel()
    await using all = await openAll({ model })
    const response = await all.post('/', agUi(agUiParts([pdf(200_000)])))
    const reader = readSse(response)
    await until(() => model.requests.length === 1)

    expect(await all.tempFiles()).toEqual({ names: [], begun: 1, open: 0 })

    model.say(text('Done.'), stop)
    expect(await reader.rest()).not.toEqual([])
  })

  test('start one run under one key, whichever way the body was read', async () => {
    await using all = await openAll()
    const key = { 'Idempotency-Key': 'k' }
    const file = pdf(90_000)
    const body = JSON.stringify(sent([file]))
    const ask = async (text: string) => {
      const response = await all.post('/sessions/once/messages', text, key)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }

    const small = await ask(body)
    expect((await all.tempFiles()).begun).toBe(0)
    const large = await ask(body.padEnd(BODY_BYTES + 1))
    expect(await all.tempFiles()).toEqual({ names: [], begun: 1, open: 0 })

    expect(small.status).toBe(202)
    expect(large).toEqual(small)
    const other = JSON.stringify(sent([pdf(90_000)])).padEnd(BODY_BYTES + 1)
    expect(await ask(other)).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
    expect(all.engine.stats().runsStarted).toBe(1)
  })

  test.each([
    ['no whole groups of four', `${base64(pdf(300_000))}A`],
    ['padding in the middle', `${base64(pdf(100_000))}${base64(pdf(200_000))}`],
  ])('are refused where they are when they have %s', async (_what, content) => {
    await using all = await openAll()

    const response = await all.post('/sessions/s/messages', {
      message: 'Hi',
      files: [{ content, mime_type: 'application/pdf' }],
    })

    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/files/0/content' }] },
    })
    expect(await all.tempFiles()).toEqual({ names: [], begun: 1, open: 0 })
  })
})

const long = base64(pdf(300_000))

describe('a history that comes along', () => {
  test('with pictures that are known, and words of an agent that look like some, is passed over', async () => {
    await using all = await openAll()
    const first = agUi(agUiParts([pdf(200_000)]))
    await (await all.post('/', first)).text()
    const next = { id: 'm2', role: 'user', content: 'And?' }
    const answer = { id: 'a1', role: 'assistant', content: long, encryptedValue: long }
    const thought = { id: 'r1', role: 'reasoning', content: long }

    const response = await all.post('/', {
      ...first,
      runId: 'run-2',
      messages: [...first.messages.map((one) => ({ ...one, metadata: { long } })), answer, thought, next],
      unknown: long,
    })

    expect(await response.text()).toContain('RUN_FINISHED')
    expect(await all.kept()).toHaveLength(1)
    expect((await all.tempFiles()).open).toBe(0)
  })
})

describe('a text as long as a file', () => {
  const ask = { message: 'Hi' }
  test.each<[string, unknown, string]>([
    ['/sessions/s/messages', { message: long }, '/message'],
    ['/sessions/s/messages', { ...ask, files: long }, '/files'],
    ['/sessions/s/messages', { ...ask, files: [long] }, '/files/0'],
    ['/sessions/s/messages', { ...ask, files: [{ content: 'AAAA', mime_type: long }] }, '/files/0/mime_type'],
    ['/sessions/s/messages', JSON.stringify(long), ''],
    ['/agent/tester/chat', { ...ask, session_id: long }, '/session_id'],
    ['/', agUi(long), '/messages/0/content'],
    ['/', agUi([{ type: 'text', text: long }]), '/messages/0/content/0/text'],
    ['/', { ...agUi('Hi'), messages: [{ id: 'm', role: 'system', content: long }] }, '/messages/0/content'],
    ['/', agUi('Hi', { state: { a: [{ b: long }] } }), '/state/a/0/b'],
    ['/', agUi('Hi', { forwardedProps: long }), '/forwardedProps'],
    ['/', agUi('Hi', { context: [{ description: 'a', value: long }] }), '/context/0/value'],
    [
      '/',
      { ...agUi('Hi'), messages: [{ id: 'm', role: 'user', content: 'Hi', metadata: { a: long } }] },
      '/messages/0/metadata/a',
    ],
    ['/', agUi('Hi', { resume: [{ interruptId: 'a', status: 'resolved', payload: long }] }), '/resume/0/payload'],
    ['/copilotkit', { method: 'agent/run', params: { agentId: long }, body: {} }, '/params/agentId'],
  ])('at %s (%#) is explained as too long, not as a file', async (path, body, pointer) => {
    await using all = await openAll()

    const response = await all.post(path, body)

    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: expect.arrayContaining([
          {
            pointer,
            detail: expect.stringMatching(/^This looks like a file \(400012 characters/),
          },
        ]),
      },
    })
    expect((await all.tempFiles()).open).toBe(0)
    expect(all.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each<[string, unknown, string]>([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: long }] }, '/messages/0/content'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], metadata: { a: long } }, '/metadata/a'],
    ['/v1/responses', { input: long }, '/input'],
    ['/v1/responses', { input: 'Hi', metadata: { a: long } }, '/metadata/a'],
  ])('at %s (%#) is explained too', async (path, body, pointer) => {
    await using all = await openAll()

    const response = await all.post(path, body)

    expect(response.status).toBe(400)
    const problem = await response.text()
    expect(problem).toContain('no file is allowed here')
    expect(problem).toContain(pointer)
  })
})
