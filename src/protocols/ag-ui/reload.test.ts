// A page that was loaded anew asks with `messages: []`: it gets the thread, and the run that is under way goes on in front of it.

import { describe, expect, test } from 'vitest'
import type { Engine } from '../../engine/engine.ts'
import { outline, scripted, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { AgentTool } from '../../tools/tool.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { eventsOf, openDoors } from '../testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from '../testing/open-gated-doors.ts'
import { readSse } from '../testing/sse-reader.ts'
import { showThread, type ThreadRequest } from './wire/show-thread.ts'

const user = (id: string) => ({ id, role: 'user', content: `text of ${id}` })
const versions = [
  ['1.0', { protocolVersion: '1.0' }],
  ['0.x', { tools: [], context: [], state: {}, forwardedProps: {} }],
] as const
const input = (more: Record<string, unknown> = {}) => ({
  threadId: 'thread',
  runId: 'run-1',
  messages: [user('m1')],
  ...more,
})
const reload = (more: Record<string, unknown> = {}) => input({ runId: 'look', messages: [], ...more })

describe.each(versions)('a reload in a %s client', (_version, spoken) => {
  test('continues with the active run, and counts as its reader', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    await doors.run('/', input(spoken))
    const before = readSse(await doors.post('/', input({ ...spoken, runId: 'run-2', messages: [user('m2')] })))
    model.say(text('Two'))
    const seen = await before.until('Two')

    const reader = readSse(await doors.post('/', reload(spoken)))
    const [started, shown, ...replayed] = await reader.until('Two')
    await before.close()
    model.say(text('Three'), stop)
    const rest = await reader.rest()

    expect(replayed).toEqual(seen.slice(1))
    const made = [started, shown].map((frame) => ({ ...frame, data: JSON.parse(frame?.data ?? '') }))
    expect(made).toEqual([
      {
        data: {
          type: 'RUN_STARTED',
          threadId: 'thread',
          runId: 'run-2',
          protocolVersion: '1.0',
          timestamp: expect.any(Number),
        },
      },
      {
        data: {
          type: 'MESSAGES_SNAPSHOT',
          messages: [user('m1'), { id: expect.any(String), role: 'assistant', content: 'One' }, user('m2')],
          timestamp: expect.any(Number),
        },
      },
    ])
    expect(outline(eventsOf(rest))).toEqual([
      'TEXT_MESSAGE_CONTENT Three',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
  })

  test('continues with the queued runs', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const first = readSse(await doors.post('/', input(spoken)))
    model.say(text('One'))
    await first.until('One')
    const second = readSse(await doors.post('/', input({ ...spoken, runId: 'run-2', messages: [user('m2')] })))

    const reader = readSse(await doors.post('/', reload(spoken)))
    await reader.until('One')
    await Promise.all([first.close(), second.close()])
    model.say(stop)
    const between = eventsOf(await reader.until('MESSAGES_SNAPSHOT'))
    model.say(text('Two'), stop)

    expect(outline(between).slice(-3)).toEqual(['RUN_FINISHED success', 'RUN_STARTED', 'MESSAGES_SNAPSHOT'])
    expect(between.at(-1)).toMatchObject({ messages: [user('m1'), { content: 'One' }, user('m2')] })
    expect(outline(eventsOf(await reader.rest())).at(-1)).toBe('RUN_FINISHED success')
  })

  test('shows the interrupt again that the thread waits for', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob'])] })
    const [asked] = interruptsOf(await doors.run('/', input(spoken)))

    const frames = await doors.run('/', reload(spoken))

    const events = eventsOf(frames)
    expect(outline(events)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'TOOL_CALL_START note',
      'TOOL_CALL_ARGS {"to":"bob"}',
      'TOOL_CALL_END',
      'RUN_FINISHED interrupt',
    ])
    expect(events[1]).toMatchObject({ messages: [user('m1')] })
    expect(interruptsOf(frames)).toMatchObject([{ id: asked?.id, toolCallId: asked?.toolCallId }])
  })
})

describe.each(versions)('after a reload a %s client shows again', (version, spoken) => {
  async function shownAfter(doors: Awaited<ReturnType<typeof openDoors>>): Promise<unknown[]> {
    await doors.run('/', input(spoken))
    const snapshot = eventsOf(await doors.run('/', reload(spoken))).find((event) => event.type === 'MESSAGES_SNAPSHOT')
    return snapshot?.messages ?? []
  }

  test('what a tool showed while it worked, as it was last', async () => {
    const look = testTool({
      name: 'look',
      call: async ({ voice }) => {
        voice.activity('horizon', 'HORIZON', { ships: 0 })
        voice.activity('horizon', 'HORIZON', { ships: 1 })
        return { content: 'a ship', isError: false }
      },
    })
    await using doors = await openDoors({ tools: [look], answers: [calls(['look']), says('A ship.')] })

    const [asked, called, activity, result, answer, ...more] = await shownAfter(doors)

    expect(asked).toEqual(user('m1'))
    expect([called, result, answer]).toMatchObject([{ role: 'assistant' }, { role: 'tool' }, { content: 'A ship.' }])
    expect(activity).toEqual({
      id: expect.stringMatching(/_horizon$/),
      role: 'activity',
      activityType: 'HORIZON',
      content: { ships: 1 },
    })
    expect(more).toEqual([])
    const session = await doors.engine.sessions.get('local_user', 'thread')
    expect([session.messageCount, (await doors.engine.messages.page(session.id, 10)).length]).toEqual([4, 4])
  })

  test('what a sub-agent said, under the call that it worked for', async () => {
    const { call: _, ...rules } = testTool({ name: 'ask_tutor', call: async () => ({ content: '', isError: false }) })
    const askTutor: AgentTool = { ...rules, location: 'agent', agent: 'tutor', handoff: false }
    const tutor = {
      definition: { ...testAgent, name: 'tutor', default: false, internal: true },
      model: scripted([says('Four.')]),
      toolbox: createStaticToolbox([]),
    }
    const asks = { parts: [{ tool_call: { name: 'ask_tutor', arguments: { message: '2 + 2?' } } }] }
    await using doors = await openDoors({ tools: [askTutor], others: [tutor], answers: [asks, says('It is 4.')] })

    expect(await shownAfter(doors)).toMatchObject([
      user('m1'),
      { role: 'assistant', toolCalls: [{ function: { name: 'ask_tutor' } }] },
      { role: 'assistant', content: 'Four.', subagentRunId: expect.any(String) },
      { role: 'tool', content: 'Four.' },
      { role: 'assistant', content: 'It is 4.' },
    ])
  })

  test('that an answer broke off', async () => {
    const half = { parts: [{ text: 'Half an' }, { error: { code: 'model_failed' as const } }] }
    await using doors = await openDoors({ answers: [half] })

    const content = version === '1.0' ? 'Half an' : 'Half an\n\n*(This answer broke off.)*'
    expect(await shownAfter(doors)).toEqual([
      user('m1'),
      { id: expect.any(String), role: 'assistant', content, metadata: { quarterdeck: { brokenOff: true } } },
    ])
  })
})

test('a run whose only reader is a reloaded page is not stopped', async () => {
  const model = createGatedModel()
  await using doors = await openDoors({ model, limits: { disconnectGraceMs: 0 } })
  const before = readSse(await doors.post('/', input()))
  await before.until('RUN_STARTED')
  const reader = readSse(await doors.post('/', reload()))
  await reader.until('MESSAGES_SNAPSHOT')
  expect(doors.engine.stats().readers).toBe(2)

  await before.close()
  await expect.poll(() => doors.engine.stats().readers, { timeout: 60_000 }).toBe(1)
  model.say(text('Still here.'), stop)

  expect(outline(eventsOf(await reader.rest())).at(-1)).toBe('RUN_FINISHED success')
})

test('a run that was cancelled in the queue is not shown', async () => {
  const model = createGatedModel()
  await using doors = await openDoors({ model })
  const first = readSse(await doors.post('/', input()))
  model.say(text('One'))
  await first.until('One')
  const reader = readSse(await doors.post('/', reload()))
  await reader.until('One')
  const queued = readSse(await doors.post('/', input({ runId: 'run-2', messages: [user('m2')] })))
  await doors.post('/runs/run-2/cancel', undefined)
  await queued.rest()
  model.say(stop)

  expect(outline(eventsOf(await reader.rest()))).toEqual([
    'TEXT_MESSAGE_END',
    'STEP_FINISHED step_1',
    'RUN_FINISHED success',
  ])
})

test('a run that began and ended while the reader lagged is shown too', async () => {
  const model = createGatedModel()
  await using doors = await openDoors({ model })
  const first = readSse(await doors.post('/', input()))
  model.say(text('One'))
  await first.until('One')
  const { engine, clock, links } = doors
  const session = await engine.sessions.get('local_user', 'thread')
  const written: string[] = []
  let second: Promise<unknown> | null = null
  const behind: Engine = {
    ...engine,
    runs: {
      ...engine.runs,
      // Asked for when the first has been sent.
      async get(owner, id) {
        second ??= doors.run('/', input({ runId: 'run-2', messages: [user('m2')] }))
        await second
        return engine.runs.get(owner, id)
      },
    },
  }
  const stream = { write: (chunk: string) => void written.push(chunk), end() {}, drop() {} }
  const request = { signal: new AbortController().signal, header: () => undefined, raw: { socket: {} } }
  const reply = { note() {}, reserve: async () => () => {}, sse: () => stream }

  const asked = { request, reply, threadId: 'thread', runId: 'look', reads: '1.x' } as unknown as ThreadRequest
  const shown = showThread({ engine: behind, approvals: doors.approvals, clock, links }, asked, session)
  model.say(stop)
  await expect.poll(() => written.join(''), { timeout: 60_000 }).toContain('RUN_FINISHED')
  model.say(text('Two'), stop)
  await shown

  const events = written
    .join('')
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
  expect(events.findLast(({ type }) => type === 'MESSAGES_SNAPSHOT')).toMatchObject({
    messages: [user('m1'), { content: 'One' }, user('m2')],
  })
  expect(outline(events).slice(-4)).toEqual([
    'TEXT_MESSAGE_CONTENT Two',
    'TEXT_MESSAGE_END',
    'STEP_FINISHED step_1',
    'RUN_FINISHED success',
  ])
})
