import { describe, expect, test } from 'vitest'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import { type TestEngineOptions, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import type { ClientTool } from '../../tools/tool.ts'
import { createGatedModel } from '../testing/gated-model.ts'
import { asAda, asOperator, refusalOf } from '../testing/open-doors.ts'
import { calls, openGatedDoors, says } from '../testing/open-gated-doors.ts'
import { readSse } from '../testing/sse-reader.ts'
import { createAiRoutes } from './routes.ts'

const open = (options: TestEngineOptions = {}) => openGatedDoors(options, createAiRoutes)
type Doors = Awaited<ReturnType<typeof open>>

const user = (id: string, text = `text of ${id}`) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const assistant = (...parts: object[]) => ({ id: 'answer', role: 'assistant', parts })
const chat = (...messages: object[]) => ({ id: 'talk', messages })

interface Chunk {
  type: string
  [key: string]: unknown
}

const chunksIn = async (response: Response): Promise<Chunk[]> => {
  expect(response.status).toBe(200)
  const frames = await readSse(response).rest()
  expect(frames.at(-1)?.data).toBe('[DONE]')
  return frames.slice(0, -1).map(({ data }) => JSON.parse(data))
}

const say = async (doors: Doors, body: object, headers?: Record<string, string>): Promise<Chunk[]> =>
  chunksIn(await doors.post('/ai/chat', body, headers))

const textOf = (chunks: readonly Chunk[]): string => chunks.map(({ delta = '' }) => delta).join('')

const asked = (chunks: readonly Chunk[]): Chunk => {
  const found = chunks.find(({ type }) => type === 'tool-approval-request')
  if (found === undefined) throw new Error('nobody is asked')
  return found
}

const answered = ({ approvalId, signature, toolCallId }: Chunk, approved: boolean) =>
  assistant({
    type: 'tool-note',
    toolCallId,
    state: 'approval-responded',
    input: { to: 'bob' },
    approval: { id: approvalId, signature, approved },
  })

async function storedIn(doors: Doors): Promise<unknown[]> {
  const session = await doors.engine.sessions.get('local_user', 'talk')
  return (await doors.engine.messages.page(session.id, 100)).map(({ role, content }) => [role, content])
}

const neverCalled = () => Promise.reject(new Error('the page runs this'))

const noting: TestEngineOptions = { answers: [calls(['note', 'bob']), says('Done.')] }

describe('a message that is sent again', () => {
  test('leads to the run that answers it, also while that run waits for its turn', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const first = readSse(await doors.post('/ai/chat', chat(user('u1'))))
    await first.until('"start"')
    const queued = readSse(await doors.post('/ai/chat', chat(user('u1'), user('u2'))))
    await expect.poll(() => doors.engine.stats().queuedRuns).toBe(1)

    const again = readSse(await doors.post('/ai/chat', chat(user('u1'))))
    const queuedAgain = readSse(await doors.post('/ai/chat', chat(user('u1'), user('u2'))))
    model.say({ type: 'text', delta: 'One' }, { type: 'finish', reason: 'stop' })
    const frames = await again.rest()
    model.say({ type: 'text', delta: 'Two' }, { type: 'finish', reason: 'stop' })

    expect(frames.slice(1)).toEqual(await first.rest())
    expect(await queuedAgain.rest()).toEqual(await queued.rest())
    expect(doors.engine.stats().runsStarted).toBe(2)
  })

  test('after its answer wants another one', async () => {
    await using doors = await open({ answers: [says('One'), says('Two')] })
    await say(doors, chat(user('u1')))

    expect(textOf(await say(doors, chat(user('u1'))))).toBe('Two')

    expect(await storedIn(doors)).toEqual([
      ['user', 'text of u1'],
      ['assistant', 'Two'],
    ])
  })

  test('twice in one request is one message', async () => {
    await using doors = await open()

    await say(doors, chat(user('u1', 'old'), user('u1', 'new')))

    expect(await storedIn(doors)).toEqual([
      ['user', 'new'],
      ['assistant', 'Hello.'],
    ])
  })

  test('from a branch that was left is refused', async () => {
    await using doors = await open()
    await say(doors, chat(user('u1')))
    await say(doors, chat(user('u1'), user('u2')))
    await say(doors, chat(user('u1', 'better')))

    expect(await refusalOf(await doors.post('/ai/chat', chat(user('u2'))))).toEqual({ status: 409, code: 'conflict' })
  })
})

describe('an approval', () => {
  test('may be refused together with a new message, but not given', async () => {
    await using doors = await open({ answers: [calls(['note', 'bob']), says('Something else.')] })
    const approval = asked(await say(doors, chat(user('u1'))))

    const given = await doors.post('/ai/chat', chat(user('u1'), answered(approval, true), user('u2')))
    expect(await refusalOf(given)).toEqual({ status: 400, code: 'invalid_request' })
    const none = await doors.post('/ai/chat', chat(user('u1'), assistant(), user('u2')))
    expect(await refusalOf(none)).toEqual({ status: 409, code: 'approval_pending' })
    const chunks = await say(doors, chat(user('u1'), answered(approval, false), user('u2')))

    expect(textOf(chunks)).toBe('Something else.')
    // The call is in a message that this answer does not go on with.
    expect(chunks.filter(({ type }) => type.startsWith('tool-'))).toEqual([])
    expect(doors.delivered).toEqual([])
  })

  test('that was decided long ago does not keep a new message from being answered', async () => {
    await using doors = await open({ answers: [calls(['note', 'bob']), says('Done.'), says('Next.')] })
    const approval = asked(await say(doors, chat(user('u1'))))
    await say(doors, chat(user('u1'), answered(approval, true)))

    const chunks = await say(doors, chat(user('u1'), answered(approval, true), user('u2')))

    expect(textOf(chunks)).toBe('Next.')
    expect(doors.delivered).toEqual([['note', 'bob']])
  })

  test('that needs two yeses is asked again after the first', async () => {
    const approval = { ...testAgent.approval, quorum: sameForEveryRisk(2) }
    await using doors = await open({ ...noting, agent: { approval } })
    const request = asked(await say(doors, chat(user('u1')), asOperator))

    const chunks = await say(doors, chat(user('u1'), answered(request, true)), asOperator)

    expect(chunks.map(({ type }) => type)).toEqual(['tool-approval-request', 'finish'])
    expect(asked(chunks)).toMatchObject({ approvalId: request.approvalId, approvalDescriptor: { quorum: 2 } })
    const again = await doors.post('/ai/chat', chat(answered(request, true)), asOperator)
    expect(await refusalOf(again)).toEqual({ status: 409, code: 'conflict' })
    expect(doors.delivered).toEqual([])
  })

  test('that somebody else gave leads to the run that went on, also if that one waits again', async () => {
    await using doors = await open({ answers: [calls(['note', 'bob']), calls(['note', 'eve'])] })
    const request = asked(await say(doors, chat(user('u1'))))
    const { run } = await doors.approvals.decide({ user: 'ada', role: 'operator' }, String(request.approvalId), {
      decision: 'approve',
    })
    await readSse(await doors.get(`/runs/${run?.id}/events`)).rest()

    const chunks = await say(doors, chat(user('u1'), answered(request, true)))

    expect(chunks.filter(({ type }) => /output|request/.test(type))).toMatchObject([
      { type: 'tool-output-available', toolCallId: request.toolCallId, output: 'note: bob' },
      { type: 'tool-approval-request', reason: expect.stringContaining('eve') },
    ])
  })

  test('has no key twice in the request that answers it', async () => {
    await using doors = await open(noting)
    const request = asked(await say(doors, chat(user('u1'))))
    const body = JSON.stringify(chat(answered(request, false))).replace(
      '"approved":false',
      '"approved":false,"approved":true',
    )

    const response = await fetch(`${doors.url}/ai/chat`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...asOperator },
      body,
    })

    expect(await refusalOf(response)).toEqual({ status: 400, code: 'malformed_json' })
    expect(doors.delivered).toEqual([])
  })
})

describe('a tool of the page', () => {
  const paint: ClientTool = { ...testTool({ name: 'paint', call: neverCalled }), location: 'client' }
  const painting: TestEngineOptions = {
    tools: [paint],
    answers: [calls(['paint', 'red']), says('Painted.'), says('Next.')],
  }
  const painted = (chunks: readonly Chunk[]) => {
    const call = chunks.find(({ type }) => type === 'tool-input-available')
    return assistant({
      type: 'tool-paint',
      toolCallId: call?.toolCallId,
      state: 'output-available',
      input: {},
      output: 'red',
    })
  }

  test('has its result taken once: sent again, it leads to the run that took it', async () => {
    await using doors = await open(painting)
    const done = painted(await say(doors, chat(user('u1'))))

    const chunks = await say(doors, chat(user('u1'), done))
    expect(textOf(chunks)).toBe('Painted.')
    expect(chunks[0]).toMatchObject({ type: 'start', messageId: 'answer' })

    expect(await say(doors, chat(user('u1'), done))).toEqual(chunks)
    expect(doors.engine.stats().runsStarted).toBe(2)
  })

  test('has its result taken beside a new message', async () => {
    await using doors = await open(painting)
    const done = painted(await say(doors, chat(user('u1'))))

    await say(doors, chat(user('u1'), done, user('u2')))

    expect((await storedIn(doors)).slice(2)).toEqual([
      ['tool', 'red'],
      ['user', 'text of u2'],
      ['assistant', 'Painted.'],
    ])
  })
})

describe('what cannot be answered', () => {
  test('is refused, and starts nothing', async () => {
    await using doors = await open()
    await say(doors, chat(user('u1')))
    const { id } = await doors.engine.sessions.get('local_user', 'talk')
    const post = async (body: unknown, headers?: Record<string, string>) =>
      refusalOf(await doors.post('/ai/chat', body, headers))
    const result = { type: 'tool-paint', toolCallId: 'unknown', state: 'output-available', output: 1 }

    expect(await post(chat(user('u1'), assistant({ type: 'text', text: 'Hello.' })))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
    expect(await post(chat(user('u1'), assistant(result)))).toEqual({ status: 400, code: 'invalid_request' })
    expect(await post({ id: 'nobody', messages: [assistant(result)] })).toEqual({
      status: 404,
      code: 'session_not_found',
    })
    expect(await post({ id, messages: [user('u2')] }, asAda)).toEqual({ status: 404, code: 'session_not_found' })
    expect(await post({ ...chat(user('u2')), agent: 'nobody' })).toEqual({ status: 404, code: 'agent_not_found' })
    expect(await post(chat(user('x'.repeat(129))))).toEqual({ status: 400, code: 'malformed_id' })
    expect(await post(chat(...Array.from({ length: 2_049 }, (_, n) => user(`n${n}`))))).toEqual({
      status: 413,
      code: 'body_too_large',
    })
    expect(doors.engine.stats().runsStarted).toBe(1)
  })

  test('and a name is each owner’s own', async () => {
    await using doors = await open()
    await say(doors, chat(user('u1')))

    expect(textOf(await say(doors, chat(user('u1')), asAda))).toBe('Hello.')
    expect(await storedIn(doors)).toHaveLength(2)
  })
})

test('a long history costs no more than its new message', async () => {
  await using doors = await open()
  await say(doors, chat(user('u0')))
  const history = Array.from({ length: 5_000 }, (_, n) => assistant({ type: 'text', text: `old ${n}` }))

  expect(textOf(await say(doors, chat(user('u0'), ...history, user('u1'))))).toBe('Hello.')

  expect(await storedIn(doors)).toHaveLength(4)
})

describe('GET /ai/chat/{id}/stream', () => {
  const status = async (doors: Doors, id: string, headers?: Record<string, string>) => {
    const response = await doors.get(`/ai/chat/${encodeURIComponent(id)}/stream`, headers)
    await response.text()
    return response.status
  }

  test('has nothing for a chat that nobody knows, or that is of somebody else', async () => {
    await using doors = await open(noting)
    await say(doors, chat(user('u1')))
    const { id } = await doors.engine.sessions.get('local_user', 'talk')

    expect(await status(doors, 'nobody')).toBe(204)
    expect(await status(doors, 'talk', asAda)).toBe(204)
    expect(await status(doors, id, asAda)).toBe(404)
    expect(await status(doors, 'x'.repeat(129))).toBe(400)
  })

  test('shows a message over several runs as one, and goes on behind any of its events', async () => {
    await using doors = await open({ answers: [calls(['note', 'bob']), calls(['note', 'eve']), says('Done.')] })
    const first = await say(doors, chat(user('u1')))
    await say(doors, chat(answered(asked(first), true)))

    const frames = await readSse(await doors.get('/ai/chat/talk/stream')).rest()

    const chunks: Chunk[] = frames.slice(0, -1).map(({ data }) => JSON.parse(data))
    expect(
      chunks.map(({ type }) => type).filter((type) => /^start$|^tool-input-start|^finish$|approval|output/.test(type)),
    ).toEqual([
      'start',
      'tool-input-start',
      'tool-approval-request',
      'tool-approval-response',
      'tool-output-available',
      'tool-input-start',
      'tool-approval-request',
      'finish',
    ])
    expect(chunks[0]?.messageId).toBe(first[0]?.messageId)
    for (const [index, { id }] of frames.entries()) {
      if (id === undefined) continue
      const response = await doors.get('/ai/chat/talk/stream', { 'Last-Event-ID': id })
      if (index === frames.length - 1) expect(response.status).toBe(204)
      else expect(await readSse(response).rest()).toEqual(frames.slice(index + 1))
    }
  })
})
