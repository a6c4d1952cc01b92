import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import type { ModelRequest } from '../../models/model.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { AgentTool, ClientTool, ServerTool } from '../../tools/tool.ts'
import {
  eventsOf,
  openEngine,
  outline,
  scripted,
  type TestEngineOptions,
  testAgent,
  testTool,
} from '../testing/open-engine.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (options: TestEngineOptions) => openEngine({ path: join(folder, 'first', 'test.db'), ...options })

/** Opens a server on what kill -9 leaves: the files as they are now. The first server still runs, but nobody reads it. */
function reopen(options: TestEngineOptions, from = 'first', to = 'second') {
  cpSync(join(folder, from), join(folder, to), { recursive: true })
  return openEngine({ path: join(folder, to, 'test.db'), ...options })
}

/** Reads a run until it sees an event of this type. After that the server counts as dead. */
async function until(
  server: ReturnType<typeof open>,
  accepted: Awaited<ReturnType<ReturnType<typeof open>['start']>>,
  type: string,
) {
  const stop = new AbortController()
  for await (const batch of server.engine.runs.follow(
    { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 },
    stop.signal,
  )) {
    if (eventsOf(batch).some((event) => event.type === type)) return
  }
}

const forever = new Promise<never>(() => {})

const tool = (effect: ServerTool['effect'], call: ServerTool['call']) => testTool({ name: 'act', effect, call })

describe('after a crash', () => {
  test('the snapshot has what tools showed and what sub-agents said, but not what those were asked', async () => {
    const act = tool('read', async ({ voice }) => {
      voice.activity('watch', 'WATCH', { side: 'port' })
      return { content: 'done', isError: false }
    })
    const { call: _call, ...description } = act
    const ask: AgentTool = { ...description, name: 'ask_helper', location: 'agent', agent: 'helper', handoff: false }
    const helper = {
      definition: { ...testAgent, name: 'helper', default: false, internal: true },
      model: scripted([{ parts: [{ text: 'Aye.' }] }]),
      toolbox: createStaticToolbox([]),
    }
    const both = [{ tool_call: { name: 'act' } }, { tool_call: { name: 'ask_helper', arguments: { message: 'Act.' } } }]
    const options = { tools: [act, ask], others: [helper] }
    const before = open({ ...options, answers: [{ parts: both }, { parts: [{ text: 'Half' }, { hang: true }] }] })
    const accepted = await before.start('q', { wireRunId: 'run-1', origin: 'reader' })
    const stop = new AbortController()
    for await (const batch of before.engine.runs.follow(
      { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 },
      stop.signal,
    )) {
      if (eventsOf(batch).some((event) => event.type === 'TEXT_MESSAGE_CONTENT' && event.delta === 'Half')) break
    }

    const after = reopen({ ...options, answers: [{ parts: [{ text: 'Whole.' }] }] })
    await after.engine.recover()

    const snapshot = (await after.events(accepted)).find((event) => event.type === 'MESSAGES_SNAPSHOT')
    const shown = snapshot?.messages ?? []
    expect(shown.map(({ role }) => role).toSorted()).toEqual(
      ['user', 'assistant', 'activity', 'assistant', 'tool', 'tool', 'assistant'].toSorted(),
    )
    expect(shown.find(({ role }) => role === 'activity')).toMatchObject({ content: { side: 'port' } })
    expect(shown.find(({ subagentRunId }) => subagentRunId !== undefined)).toMatchObject({ content: 'Aye.' })
    expect(snapshot?.metadata).toBeUndefined()
  })

  test('a run goes on after its last finished step, and the unfinished answer is kept and marked', async () => {
    const before = open({ answers: [{ parts: [{ text: 'Half ' }, { text: 'an' }, { hang: true }] }] })
    const accepted = await before.start('q', { wireRunId: 'run-1', origin: 'reader' })
    await until(before, accepted, 'TEXT_MESSAGE_CONTENT')

    const requests: ModelRequest[] = []
    const after = reopen({ answers: [{ parts: [{ text: 'Whole.' }] }], onRequest: (request) => requests.push(request) })
    await after.engine.recover()
    const seen = await after.events(accepted)

    expect(outline(seen).filter((line) => !line.startsWith('TEXT_MESSAGE_CONTENT'))).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'MESSAGES_SNAPSHOT',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
    const stored = await after.engine.messages.page(accepted.session.id, 10)
    expect(stored.map((message) => [message.role, message.brokenOff ?? false])).toEqual([
      ['user', false],
      ['assistant', true],
      ['assistant', false],
    ])
    expect(requests.map((request) => request.messages.map((message) => message.content))).toEqual([['q']])
    await after.close()
  })

  test('no event id is used twice: the run goes on after the reserved block', async () => {
    const before = open({ answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const accepted = await before.start('q')
    await until(before, accepted, 'TEXT_MESSAGE_CONTENT')
    const head = await before.store.head(accepted.session.id)

    const after = reopen({})
    await after.engine.recover()
    await after.events(accepted)
    const seqs = (await after.engine.sessions.entries(accepted.session.id, head, 100)).map((entry) => entry.seq)
    expect(seqs[0]).toBeGreaterThan(head + 1_000)
    expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
    await after.close()
  })

  test('a tool that may have taken effect is not called again: the run asks for a review', async () => {
    const before = open({
      tools: [tool('once', () => forever)],
      answers: [{ parts: [{ tool_call: { name: 'act' } }] }],
    })
    const accepted = await before.start('q')
    await until(before, accepted, 'STEP_FINISHED')

    let calls = 0
    const after = reopen({ tools: [tool('once', async () => ({ content: String(++calls), isError: false }))] })
    await after.engine.recover()
    const last = (await after.events(accepted)).at(-1)
    expect(last).toMatchObject({
      type: 'RUN_ERROR',
      code: 'needs_review',
      message: expect.stringContaining('act (call_'),
    })
    expect(calls).toBe(0)
    expect((await after.engine.runs.get('local_user', accepted.run.id)).status).toBe('interrupted')
    await after.close()
  })

  test.each([
    ['asks for a review', false, 'RUN_ERROR needs_review'],
    ['was told to stop', true, 'RUN_FINISHED cancelled'],
  ])('a run that %s says what became of each of its calls', async (_, isStopped, end) => {
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const act = () =>
      tool('once', () => {
        resolve()
        return forever
      })
    const { call: _call, ...description } = tool('read', async () => ({ content: '', isError: false }))
    const pick: ClientTool = { ...description, name: 'pick', location: 'client' }
    const agent = { limits: { ...testAgent.limits, parallelCalls: 1 } }
    const parts = ['act', 'act', 'pick'].map((name) => ({ tool_call: { name } }))
    const before = open({ tools: [act(), pick], answers: [{ parts }], agent })
    const accepted = await before.start('q')
    await begun
    if (isStopped) await before.log.commit({ type: 'request_cancel', runId: accepted.run.id, entries: [] })

    const after = reopen({ tools: [act(), pick], agent })
    await after.engine.recover()
    const events = await after.events(accepted)
    const stored = await after.engine.messages.page(accepted.session.id, 10)
    const [one, two, three] = stored.find(({ role }) => role === 'assistant')?.toolCalls ?? []
    expect(outline(events).at(-1)).toBe(end)
    if (!isStopped) {
      const left = `Not run: act (${two?.id}), pick (${three?.id}).`
      expect(events.at(-1)).toMatchObject({ message: expect.stringContaining(left) })
    }
    const results = stored.filter(({ role }) => role === 'tool')
    expect(
      results.map(({ toolCallId, content, metadata }) => [toolCallId, String(content).slice(0, 22), metadata]),
    ).toEqual([
      [one?.id, 'The server stopped whi', { quarterdeck: { status: 'error', fate: 'unknown' } }],
      [two?.id, 'This call did not run:', { quarterdeck: { status: 'error', fate: 'not_run' } }],
      [three?.id, 'This call did not run:', { quarterdeck: { status: 'error', fate: 'not_run' } }],
    ])
    const trail = (await after.store.audit.entries(0, 10)).map(({ text }) => JSON.parse(text))
    expect(trail.map(({ kind, call, details }) => [kind, call, details.status ?? null])).toEqual([
      ['call_started', one?.id, null],
      ['call_finished', one?.id, 'unknown'],
    ])
    await after.close()
  })

  test('what became of the calls of a sub-agent is said in the result of its own call', async () => {
    const { promise: begun, resolve } = Promise.withResolvers<string>()
    const act = tool('once', ({ callId }) => {
      resolve(callId)
      return forever
    })
    const { call: _call, ...description } = act
    const ask: AgentTool = { ...description, name: 'ask_helper', location: 'agent', agent: 'helper', handoff: false }
    const parts = [1, 2].map((n) => ({ tool_call: { name: 'act', arguments: { n } } }))
    const limits = { ...testAgent.limits, parallelCalls: 1 }
    const options = (): TestEngineOptions => ({
      tools: [ask],
      answers: [{ parts: [{ tool_call: { name: 'ask_helper', arguments: { message: 'Act.' } } }] }],
      others: [
        {
          definition: { ...testAgent, name: 'helper', default: false, internal: true, limits },
          model: scripted([{ parts }]),
          toolbox: createStaticToolbox([act]),
        },
      ],
    })
    const before = open(options())
    const accepted = await before.start('q')
    const callId = await begun

    const after = reopen(options())
    await after.engine.recover()
    expect((await after.events(accepted)).at(-1)).toMatchObject({
      code: 'needs_review',
      message: expect.stringMatching(new RegExp(`while act \\(${callId}\\) was running.* Not run: act \\(call_`)),
    })
    const [told] = (await after.engine.messages.page(accepted.session.id, 10)).filter(({ role }) => role === 'tool')
    expect(told?.content).toContain(`This agent was cut off when the server stopped. It was running act (${callId})`)
    expect(told?.content).toContain('Not run: act (call_')
    await after.close()
  })

  test('a tool that only reads is called again, with the same call id', async () => {
    const seen: string[] = []
    const before = open({
      tools: [
        tool('read', ({ callId }) => {
          seen.push(callId)
          return forever
        }),
      ],
      answers: [{ parts: [{ tool_call: { name: 'act' } }] }],
    })
    const accepted = await before.start('q')
    await until(before, accepted, 'STEP_FINISHED')

    const after = reopen({
      tools: [
        tool('read', async ({ callId }) => {
          seen.push(callId)
          return { content: 'read', isError: false }
        }),
      ],
      answers: [{ parts: [{ text: 'done' }] }],
    })
    await after.engine.recover()
    const events = outline(await after.events(accepted))
    expect(events.slice(-7)).toEqual([
      'TOOL_CALL_RESULT read',
      'STEP_STARTED step_2',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT done',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    expect(seen).toEqual([seen[0], seen[0]])
    await after.close()
  })

  test('queued runs are started, and a run that was told to stop is stopped', async () => {
    const before = open({ answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const first = await before.start('1')
    const second = await before.start('2', { session: { existing: first.session } })
    await before.log.commit({ type: 'request_cancel', runId: first.run.id, entries: [] })

    const after = reopen({ answers: [{ parts: [{ text: 'b' }] }] })
    await after.engine.recover()
    expect(outline(await after.events(first)).at(-1)).toBe('RUN_FINISHED cancelled')
    await after.engine.recover()
    expect(outline(await after.events(second)).at(-1)).toBe('RUN_FINISHED success')
    await after.close()
  })
})

describe('a process that keeps dying', () => {
  /** Starts the run and lets the process die whenever `dies` says that the time has come, life after life. */
  async function live(lives: readonly TestEngineOptions[], dies: (life: number) => Promise<void>, more = {}) {
    const names = ['first', ...lives.map((_, i) => `life-${i + 2}`)]
    const servers = [open(lives[0] ?? {})]
    const accepted = await servers[0]?.start('q', more)
    if (accepted === undefined) throw new Error('not started')
    for (const [i, options] of lives.slice(1).entries()) {
      await dies(i + 1)
      const server = reopen(options, names[i], names[i + 1])
      servers.push(server)
      await server.engine.recover()
    }
    const last = servers.at(-1)
    if (last === undefined) throw new Error('not started')
    const run = async () => await last.engine.runs.get('local_user', accepted.run.id)
    return { last, accepted, servers, run, end: async () => (await last.events(accepted)).at(-1) }
  }

  /** Resolves when so many have come. */
  function meeting(count: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    let come = 0
    return {
      come() {
        come += 1
        if (come === count) resolve()
      },
      promise,
    }
  }

  test('in the same call does not make it a third time: the run asks for a review and names the call', async () => {
    const seen: string[] = []
    const starts = [meeting(1), meeting(1)]
    const hangs = (life: number) =>
      tool('read', ({ callId }) => {
        seen.push(callId)
        starts[life]?.come()
        return forever
      })
    const answers = [{ parts: [{ tool_call: { name: 'act' } }] }]
    const lives = [0, 1, 2].map((life) => ({ tools: [hangs(life)], answers }))
    const { end, run, last } = await live(lives, async (life) => starts[life - 1]?.promise)
    expect(await end()).toMatchObject({
      type: 'RUN_ERROR',
      code: 'needs_review',
      message: `The server died 2 times while act (${seen[0]}) was running, so it was not started again. Fix the tool, then ask again.`,
    })
    expect([seen.length, (await run()).status]).toEqual([2, 'interrupted'])
    await last.close()
  })

  test('first in one call and then in another goes on: it died once in each', async () => {
    const starts = [meeting(1), meeting(2), meeting(1)]
    let life = 0
    const act = () =>
      tool('read', async ({ arguments: { n } }) => {
        starts[life]?.come()
        return n === 1 && life === 0
          ? await forever
          : n === 2 && life === 1
            ? await forever
            : { content: 'x', isError: false }
      })
    const answers = [1, 2].map((n) => ({
      when: n === 1 ? 'q' : { tool: 'act' },
      parts: [{ tool_call: { name: 'act', arguments: { n } } }],
    }))
    const done = [{ when: { tool: 'act' }, parts: [{ text: 'done' }] }]
    const { end, last } = await live(
      [
        { tools: [act()], answers },
        { tools: [act()], answers: answers.slice(1) },
        { tools: [act()], answers: done },
      ],
      async (dies) => {
        await starts[dies - 1]?.promise
        life = dies
      },
    )
    expect(await end()).toMatchObject({ type: 'RUN_FINISHED' })
    await last.close()
  })

  test('while calls run in parallel blames all of them, but none that had not begun', async () => {
    const seen: unknown[] = []
    const starts = [meeting(2), meeting(2)]
    let life = 0
    const act = tool('read', ({ arguments: { n } }) => {
      seen.push(n)
      starts[life]?.come()
      return forever
    })
    const answers = [{ parts: [1, 2, 3].map((n) => ({ tool_call: { name: 'act', arguments: { n } } })) }]
    const agent = { limits: { ...testAgent.limits, parallelCalls: 2 } }
    const { end, accepted, last } = await live(
      [1, 2, 3].map(() => ({ tools: [act], answers, agent })),
      async (dies) => {
        await starts[dies - 1]?.promise
        life = dies
      },
    )
    const [answer] = (await last.engine.messages.page(accepted.session.id, 10)).filter(
      ({ role }) => role === 'assistant',
    )
    const [one, two, three] = answer?.toolCalls ?? []
    expect(await end()).toMatchObject({
      code: 'needs_review',
      message: `The server died 2 times while act (${one?.id}), act (${two?.id}) were running, so they were not started again. Fix the tool, then ask again. Not run: act (${three?.id}).`,
    })
    expect(seen).toEqual([1, 2, 1, 2])
    await last.close()
  })

  test('during the same model answer does not ask for it a third time', async () => {
    const starts = [meeting(1), meeting(1)]
    let life = 0
    const options = (): TestEngineOptions => ({
      answers: [{ parts: [{ text: 'Half ' }, { hang: true }] }],
      onRequest: () => starts[life]?.come(),
    })
    const { end, last } = await live([options(), options(), options()], async (dies) => {
      await starts[dies - 1]?.promise
      life = dies
    })
    expect(await end()).toMatchObject({
      code: 'needs_review',
      message: expect.stringContaining('died 2 times while the model was answering in step_1'),
    })
    await last.close()
  })

  test('and was stopped in an orderly way in between has died once', async () => {
    const starts = [meeting(1), meeting(1), meeting(1)]
    let life = 0
    const options = (): TestEngineOptions => ({
      answers: [{ parts: [{ text: 'Half ' }, { hang: true }] }],
      onRequest: () => starts[life]?.come(),
    })
    const whole = { answers: [{ parts: [{ text: 'Whole.' }] }] }
    const first = open(options())
    const accepted = await first.start('q')
    await starts[0]?.promise
    life = 1
    const second = reopen(options(), 'first', 'second')
    await second.engine.recover()
    await starts[1]?.promise
    await second.close()
    const third = reopen(whole, 'second', 'third')
    await third.engine.recover()
    expect((await third.events(accepted)).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    await third.close()
  })

  test('does not count as dead when it was killed while it was stopping', async () => {
    const options: TestEngineOptions = { answers: [{ parts: [{ text: 'Half ' }, { hang: true }] }] }
    const first = open(options)
    const accepted = await first.start('q')
    const closing: Promise<void>[] = []
    const kill = async (server: ReturnType<typeof open>, from: string, to: string) => {
      await expect.poll(() => server.engine.stats().activeRuns).toBe(1)
      closing.push(server.engine.drain(1_000))
      const session = accepted.run.sessionId
      const facts = async () => (await server.store.entries(session, 0, 100)).map(({ data }) => data).join()
      await expect.poll(facts).toMatch(/"stopping"(?!.*"run_recovered")/)
      const next = reopen(options, from, to)
      await next.engine.recover()
      return next
    }
    const second = await kill(first, 'first', 'second')
    const third = await kill(second, 'second', 'third')
    await expect.poll(() => third.engine.stats().activeRuns).toBe(1)
    await Promise.all(closing)
    for (const server of [first, second, third]) await server.close()
  })

  test('counts as dead after an uncaught error, even though it stopped in an orderly way', async () => {
    const starts = [meeting(1), meeting(1)]
    let life = 0
    const options = (): TestEngineOptions => ({
      answers: [{ parts: [{ text: 'Half ' }, { hang: true }] }],
      onRequest: () => starts[life]?.come(),
    })
    const first = open(options())
    const accepted = await first.start('q')
    await starts[0]?.promise
    await first.engine.drain(0, { crashed: true })
    life = 1
    const second = reopen(options(), 'first', 'second')
    await second.engine.recover()
    await starts[1]?.promise
    await second.engine.drain(0, { crashed: true })
    const third = reopen(options(), 'second', 'third')
    await third.engine.recover()
    expect((await third.events(accepted)).at(-1)).toMatchObject({ code: 'needs_review' })
    await third.close()
  })
})

describe('a graceful stop', () => {
  test('ends runs that are read live and suspends background runs, which go on after the next start', async () => {
    const before = open({
      answers: [
        { when: 'live', parts: [{ text: 'a' }, { hang: true }] },
        { when: 'later', parts: [{ text: 'b' }, { hang: true }] },
      ],
    })
    const live = await before.start('live', { origin: 'reader' })
    const background = await before.start('later', { session: { create: { alias: 'background' } } })
    const seen = before.events(live)
    await until(before, live, 'TEXT_MESSAGE_CONTENT')
    await until(before, background, 'TEXT_MESSAGE_CONTENT')
    await before.engine.drain(1)
    expect(outline(await seen).at(-1)).toBe('RUN_ERROR interrupted')
    await expect(before.start('more')).rejects.toMatchObject({ code: 'shutting_down' })
    await before.close()

    const after = reopen({ answers: [{ parts: [{ text: 'done' }] }] })
    await after.engine.recover()
    expect(outline(await after.events(background)).at(-1)).toBe('RUN_FINISHED success')
    expect((await after.engine.runs.get('local_user', live.run.id)).status).toBe('interrupted')
    await after.close()
  })

  test('does not complain about a run that ends at the same moment', async () => {
    const lines: LogLine[] = []
    const fatal = (error: Error) => {
      throw error
    }
    const store = createSqliteStore({ path: ':memory:', fatal })
    const stopping: Promise<void>[] = []
    const commit: typeof store.commit = (commands) => {
      if (commands.some(({ type }) => type === 'finish_run')) stopping.push(server.engine.drain(0))
      return store.commit(commands)
    }
    const server = openEngine({ store: { ...store, commit }, logger: recordingLogger(lines) })
    await server.events(await server.start('go'))
    await Promise.all(stopping)
    await server.close()
    expect(stopping).toHaveLength(1)
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
