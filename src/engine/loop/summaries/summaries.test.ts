// Long conversations with a model that takes notes. The notes here are made by rule from what the model is really sent, so what is lost on the way is missing.

import { describe, expect, test, vi } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { createIds } from '../../../domain/ids.ts'
import { SUMMARIES, summaryIn } from '../../../domain/session/summary.ts'
import { createLocalWake } from '../../../log/wake.ts'
import { type Model, type ModelRequest, streamOf, withAside } from '../../../models/model.ts'
import { openTestStore } from '../../../store/sqlite/testing/open-test-store.ts'
import type { AcceptedRun } from '../../ports/runs.ts'
import { openEngine, type TestEngineOptions, testAgent, testTool } from '../../testing/open-engine.ts'
import { READ_HISTORY } from '../read-history-tool.ts'
import { SUMMARY_SYSTEM } from './summary-text.ts'

const CONTEXT = 4_000

/** Notes every line of the material that begins with `Note:`, once, and says how long the material was. */
function takesNotes(write = notesOf): Model & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  return {
    ...{ provider: 'scripted', name: 'notes', asked, check: () => Promise.resolve() },
    stream: streamOf(async function* (request) {
      asked.push(request)
      yield [{ type: 'text', delta: write(promptOf(request)) }]
      const usage = { inputTokens: Math.ceil(promptOf(request).length / 4), outputTokens: 50 }
      yield [
        { type: 'usage', usage },
        { type: 'finish', reason: 'stop' },
      ]
    }),
  }
}

const promptOf = ({ messages }: ModelRequest): string => messages[0]?.content ?? ''
const notesOf = (prompt: string): string => {
  const [, material = ''] = prompt.split('The messages that follow them:')
  const noted = [...material.matchAll(/^User: Note: (.*)$/gm)].map(([, line]) => `- ${line}`)
  return `# Facts\n${noted.join('\n')}\n# Story\nThey talked for long.`
}

const agent = {
  context: { maxMessages: 1_000, mode: 'summarize' as const },
  model: { ...testAgent.model, contextWindow: CONTEXT },
}

function openTalk(options: TestEngineOptions = {}) {
  const sent: ModelRequest[] = []
  const server = openEngine({
    ...{ agent, answers: [{ parts: [{ text: `It is so. ${'And so on. '.repeat(20)}` }] }] },
    onRequest: (request) => void sent.push(request),
    ...options,
  })
  let last: AcceptedRun | null = null
  return {
    ...server,
    sent,
    async say(text: string, more: Parameters<typeof server.start>[1] = {}) {
      last = await server.start(text, last === null ? more : { session: { existing: last.session }, ...more })
      return server.events(last)
    },
    /** Summaries are made in the background: the newest one that covers this many messages. */
    async summary(atLeast = 1) {
      for (;;) {
        const [message] = await server.store.messages.ofLane(last?.session.id ?? '', SUMMARIES, 1)
        const found = message === undefined ? null : summaryIn(message)
        if (found !== null && found.messages >= atLeast) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    sessionId: () => last?.session.id ?? '',
  }
}

const sizeOf = (request: ModelRequest): number =>
  request.system.length + withAside(request).reduce((sum, { content }) => sum + content.length, 0)
const question = (i: number): string => `Question ${i}: ${'where is it? '.repeat(15)}`
const firstOf = (request: ModelRequest | undefined): string => request?.messages[0]?.content ?? ''

describe('a conversation of many windows', () => {
  test('still has what was said at its beginning, at the cost of one window', async () => {
    const notes = takesNotes()
    const talk = openTalk({ summarizer: notes })
    const facts = Array.from({ length: 20 }, (_, i) => `ship ${i} has ${1000 + 37 * i} tons`)
    for (const fact of facts) await talk.say(`Note: ${fact}`)
    // Each exchange has about 110 tokens, so these are more than ten windows.
    for (let i = 0; i < 400; i += 1) await talk.say(question(i))

    const newest = talk.sent.at(-1)
    for (const fact of facts) expect(firstOf(newest)).toContain(`- ${fact}\n`)
    expect(Math.max(...talk.sent.map(sizeOf))).toBeLessThan(CONTEXT * 4)
    // The beginning of the messages changes once for each summary, so a provider's cache is of use nearly always.
    const changes = talk.sent.filter((request, i) => i > 0 && firstOf(request) !== firstOf(talk.sent[i - 1])).length
    expect(changes).toBeLessThan(talk.sent.length / 10)
    expect(notes.asked.length).toBeLessThanOrEqual(changes + 1)
    // Each message is read once more for the notes, beside the notes themselves.
    const said = 420 * 110
    const read = notes.asked.reduce((sum, request) => sum + sizeOf(request) / 4, 0)
    expect(read).toBeLessThan(said * 1.6)
    // The cost is known, and nothing was stored twice.
    const tokens = () => notes.asked.reduce((sum, one) => sum + Math.ceil(promptOf(one).length / 4), 0)
    const used = { from: 0, to: 30_000, sessionId: talk.sessionId(), model: 'scripted/notes' }
    await vi.waitFor(async () => expect(await talk.store.usage.totals(used)).toMatchObject([{ input: tokens() }]))
    const all = await talk.store.messages.ofLane(talk.sessionId(), SUMMARIES, 1_000)
    expect(all.length).toBeGreaterThan(10)
    expect(new Set(all.map((message) => summaryIn(message)?.upTo)).size).toBe(all.length)
    await talk.close()
  })

  test('shows each summary to clients once, as an activity', async () => {
    const talk = openTalk({ summarizer: takesNotes() })
    const shown: string[] = []
    for (let i = 0; i < 120; i += 1) {
      for (const event of await talk.say(question(i)))
        if (event.type === 'ACTIVITY_SNAPSHOT') shown.push(event.messageId)
    }
    const all = await talk.store.messages.ofLane(talk.sessionId(), SUMMARIES, 100)
    expect(shown.length).toBeGreaterThan(2)
    expect(new Set(shown).size).toBe(shown.length)
    for (const id of shown) expect(all.find((one) => one.id === id)?.activity?.content).toHaveProperty('shownIn')
    await talk.close()
  })

  test('can be read back word for word', async () => {
    const call = (args: object) => ({ parts: [{ tool_call: { name: READ_HISTORY, arguments: { ...args } } }] })
    const talk = openTalk({
      summarizer: takesNotes(() => 'They talked.'),
      answers: [
        { when: { user: 'which ship' }, times: 1, ...call({ search: 'cargo amber' }) },
        { when: { tool: READ_HISTORY }, parts: [{ text: 'The Anna.' }] },
        { when: { user: 'Question' }, parts: [{ text: 'It is so. '.repeat(20) }] },
        { when: { user: 'cargo' }, parts: [{ text: 'Noted.' }] },
      ],
    })
    await talk.say('The cargo of the Anna is amber, 12 tons of it.')
    for (let i = 0; i < 60; i += 1) await talk.say(question(i))
    await talk.summary()
    await talk.say('And which ship?')

    expect(JSON.stringify(talk.sent.at(-1)?.messages.slice(0, -1))).not.toContain('12 tons')
    expect(talk.sent.at(-1)?.messages.at(-1)?.content).toMatch(
      /The user, .*, message .*\]\nThe cargo of the Anna is amber, 12 tons of it\./,
    )
    await talk.close()
  })

  test('goes on in the same way after a restart, and each step can be built again', async () => {
    const path = `${await import('node:fs/promises').then(({ mkdtemp }) => mkdtemp('/tmp/summaries-'))}/db`
    const talk = openTalk({ summarizer: takesNotes(), path })
    for (let i = 0; i < 60; i += 1) await talk.say(question(i))
    const before = firstOf(talk.sent.at(-1))
    expect(before).toContain("The server's notes of the")
    const session = (await talk.store.sessions.get(talk.sessionId())) ?? expect.unreachable()
    await talk.close()

    const again = openTalk({ summarizer: takesNotes(), path })
    await again.events(await again.start('What now?', { session: { existing: session } }))
    const [request] = again.sent
    const entries = await again.store.entries(session.id, 0, 10_000, 100_000_000)
    const step = entries.findLast(({ data }) => data.startsWith('{"type":"STEP_STARTED"'))
    const built = await again.engine.sessions.readStep(session, step?.seq ?? 0)
    expect(built.unknown).toEqual([])
    expect(JSON.parse(JSON.stringify(built.request?.messages))).toEqual(
      JSON.parse(JSON.stringify(withAside(request ?? expect.unreachable()))),
    )
    expect(built.request?.tools.map(({ name }) => name)).toEqual([READ_HISTORY])
    await again.close()
  })
})

describe('when no summary can be made', () => {
  test('the newest part is sent, the model is told, and it is not asked for again at once', async () => {
    const broken = takesNotes(() => {
      throw new Error('out of ink')
    })
    const talk = openTalk({ summarizer: broken })
    for (let i = 0; i < 80; i += 1) await talk.say(question(i))

    expect(broken.asked.length).toBe(1)
    expect(firstOf(talk.sent.at(-1))).toMatch(
      /^\[Note from the server: earlier messages .* read_history finds them\.\]\n\nQuestion/,
    )
    await talk.close()
  })

  test('with `window` no model is asked, and the model is told too', async () => {
    const notes = takesNotes()
    const window = { ...agent, context: { ...agent.context, mode: 'window' as const } }
    const talk = openTalk({ summarizer: notes, agent: window })
    for (let i = 0; i < 60; i += 1) await talk.say(question(i))

    expect(notes.asked).toEqual([])
    expect(firstOf(talk.sent.at(-1))).toContain(
      '[Note from the server: earlier messages of this conversation are not shown here',
    )
    await talk.close()
  })
})

test('a long run is summarized between its steps, its question stays, and old results are shortened first', async () => {
  const notes = takesNotes(() => '# Story\nIt looked at many ships.')
  const steps = 40
  const talk = openTalk({
    agent: { ...agent, limits: { ...testAgent.limits, steps: 100, toolCalls: 100, identicalCalls: 100 } },
    summarizer: notes,
    tools: [testTool({ name: 'look', call: async () => ({ content: 'A ship. '.repeat(200), isError: false }) })],
    answers: [
      ...Array.from({ length: steps }, () => ({ parts: [{ tool_call: { name: 'look' } }] })),
      { parts: [{ text: 'done' }] },
    ],
  })
  const events = await talk.say('Count the ships, all of them.')

  expect(
    talk.sent.filter(({ messages }) => JSON.stringify(messages).includes(' characters …]')).length,
  ).toBeGreaterThan(5)
  for (const request of talk.sent.slice(1)) {
    expect(firstOf(request)).toMatch(/Count the ships, all of them\.$/)
    expect(request.messages.map(({ role }) => role).join(' ')).toMatch(/^user( assistant tool)+$/)
  }
  expect(firstOf(talk.sent.at(-1))).toContain('It looked at many ships.')
  expect(sizeOf(talk.sent.at(-1) ?? expect.unreachable())).toBeLessThan(CONTEXT * 4)
  const made = events.filter((event) => event.type === 'STEP_STARTED' && event.stepName === 'summary')
  expect(made.length).toBeLessThanOrEqual(notes.asked.length)
  expect(made.length).toBeGreaterThan(1)
  await talk.close()
})

test('a branch takes the summary with it, and the conversation goes on from what is left', async () => {
  const talk = openTalk({ summarizer: takesNotes() })
  await talk.say('Note: the harbour is closed')
  for (let i = 0; i < 60; i += 1) await talk.say(question(i))
  const summary = await talk.summary()
  const [first] = await talk.store.messages.page(talk.sessionId(), 1_000)
  await talk.say('Anew.', {
    input: {
      messages: [{ id: 'anew', role: 'user', content: 'Anew.' }],
      instructions: [],
      context: [],
      clientTools: [],
      regenerateAfter: first?.id ?? '',
    },
  })

  expect(JSON.stringify(talk.sent.at(-1))).not.toContain("The server's notes")
  expect(await talk.store.messages.known(talk.sessionId(), [summary.id])).toMatchObject([
    { supersededBy: expect.any(String) },
  ])
  await talk.close()
})

test('two processes that summarize the same conversation keep one summary', async () => {
  const store = openTestStore()
  const wake = createLocalWake({ clock: createSystemClock(), pollMs: null })
  const held: (() => void)[] = []
  let isHeld = true
  const slow = (): Model & { asked: ModelRequest[] } => {
    const notes = takesNotes()
    return {
      ...notes,
      async stream(...args) {
        if (!isHeld) return notes.stream(...args)
        await new Promise<void>((go) => held.push(go))
        return notes.stream(...args)
      },
    }
  }
  const ids = createIds(Date.now)
  const open = () => openTalk({ store, wake, summarizer: slow(), isOnlyProcess: false, leaseOwner: ids.uuid() })
  const [here, there] = [open(), open()]
  let session: AcceptedRun['session'] | null = null
  for (let i = 0; held.length < 2; i += 1) {
    const server = i % 2 === 0 ? here : there
    const accepted = await server.start(question(i), session === null ? {} : { session: { existing: session } })
    session = accepted.session
    await server.events(accepted)
  }
  const { id } = session ?? expect.unreachable()
  isHeld = false
  for (const go of held.splice(0)) go()
  // What the second one has made is refused, or extends the first.
  await vi.waitFor(async () => expect((await store.messages.ofLane(id, SUMMARIES, 10)).length).toBeGreaterThan(0))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await store.messages.ofLane(id, SUMMARIES, 10)).length).toBe(1)
  await here.engine.close()
  await there.close()
})

test('a model that is asked for notes gets nothing but the notes and the messages', async () => {
  const notes = takesNotes()
  const talk = openTalk({ summarizer: notes })
  for (let i = 0; i < 40; i += 1) await talk.say(question(i))
  await talk.summary()
  expect(notes.asked[0]).toMatchObject({ system: SUMMARY_SYSTEM, tools: [], aside: '', responseFormat: null })
  await talk.close()
})
