import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../domain/session/event.ts'
import { type Citations, citationsIn, shownIn } from '../../domain/session/source.ts'
import { SUMMARIES } from '../../domain/session/summary.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import { createFakeHandbook, handbookPassage, handbookSettings } from '../../tools/testing/fake-handbook.ts'
import type { AgentTool } from '../../tools/tool.ts'
import { createRedaction } from '../middleware/middleware.ts'
import {
  eventsOf,
  openEngine,
  outline,
  scripted,
  type TestEngineOptions,
  testAgent,
  testTool,
  userInput,
} from '../testing/open-engine.ts'
import { openNumbers } from './passage-numbers.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const weeks = handbookPassage('weeks', 'Fourteen weeks.')
const notice = handbookPassage('notice', 'Tell us seven weeks before.', { file: 'notice.md' })
const pay = handbookPassage('pay', 'Pay goes on.', { file: 'pay.md', headings: [] })

const search = (query: string) => ({ tool_call: { name: 'handbook', arguments: { query } } })
const say = (text: string) => ({ parts: [{ text }] })
const knowing = { tools: [handbookSettings] }

function open(handbook: ReturnType<typeof createFakeHandbook>, options: TestEngineOptions) {
  return openEngine({ tools: handbook.tools, agent: knowing, ...options })
}

const source = ({ headings, ...passage }: typeof weeks, number: number) => ({
  ...{ number, tool: 'handbook', id: passage.id, file: passage.file, place: passage.place, headings },
  ...{ text: passage.text, isChanged: false },
})
const shown = (passage: typeof weeks, number: number) => {
  const { text: _text, isChanged: _isChanged, ...rest } = source(passage, number)
  return rest
}
const gone = (passage: typeof weeks, number: number) => ({ ...source(passage, number), text: '', isChanged: true })

/** What each of the messages cites, as the events say. */
const cited = (events: readonly RunEvent[]): Citations[] =>
  events.flatMap((event) => (event.type === 'TEXT_MESSAGE_END' ? (citationsIn(event.metadata) ?? []) : []))
const activities = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'ACTIVITY_SNAPSHOT' ? [event.content] : []))
const numbersOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'TOOL_CALL_RESULT' ? [shownIn(event.metadata).map(({ number, id }) => `${number} ${id}`)] : [],
  )

describe('an answer', () => {
  test('keeps what it cites, in its last event, an activity behind it and the stored message', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const server = open(handbook, {
      answers: [{ parts: [search('weeks')] }, say('Seven [2], fourteen [1]; `list[1]` and:\n```\n[2, 7]\n```\n[9].')],
    })
    const accepted = await server.start('How long?')
    const events = await server.events(accepted)

    const citations = { sources: [source(notice, 2), source(weeks, 1)], notFound: [9] }
    expect(cited(events)).toEqual([citations])
    expect(outline(events).slice(-5)).toEqual([
      'TEXT_MESSAGE_CONTENT Seven [2], fourteen [1]; `list[1]` and:\n```\n[2, 7]\n```\n[9].',
      'TEXT_MESSAGE_END',
      'ACTIVITY_SNAPSHOT',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    const stored = await server.engine.messages.page(accepted.session.id, 10, { asides: true })
    const answer = stored.findLast(({ role }) => role === 'assistant')
    expect(answer?.metadata).toEqual({ quarterdeck: { citations } })
    const shownSources = [
      {
        ...{ id: 'notice', number: 2, file: 'notice.md', line: 3 },
        heading: 'Leave > Parental leave',
        text: notice.text,
      },
      { ...{ id: 'weeks', number: 1, file: 'leave.md', line: 3 }, heading: 'Leave > Parental leave', text: weeks.text },
    ]
    const content = { messageId: answer?.id, sources: shownSources, not_found: [9] }
    expect(activities(events)).toEqual([content])
    expect(stored.find(({ role }) => role === 'activity')).toMatchObject({
      ...{ id: `${answer?.id}_sources`, activity: { type: 'SOURCES', content } },
    })
    // The same stands with the result, without the texts, which its content has.
    const result = stored.find(({ role }) => role === 'tool')
    expect(shownIn(result?.metadata)).toEqual([shown(weeks, 1), shown(notice, 2)])
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')?.metadata).toEqual(result?.metadata)
    await server.close()
  })

  test('without a citation, or of an agent without documents, is as it always was', async () => {
    const handbook = createFakeHandbook([weeks])
    const server = open(handbook, { answers: [say('No idea.')] })
    const plain = openEngine({ answers: [say('As [1] says.')] })
    for (const one of [server, plain]) {
      const end = (await one.events(await one.start('go'))).find(({ type }) => type === 'TEXT_MESSAGE_END')
      expect(Object.keys(end ?? {})).toEqual(['type', 'messageId', 'timestamp'])
      await one.close()
    }
    expect(handbook.asked).toEqual([])
  })

  test('never shows what a file does not say any more', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const server = open(handbook, {
      answers: [{ parts: [search('weeks')] }, say('Fourteen [1].')],
      onRequest: ({ messages }) => {
        if (messages.length > 1) handbook.passages.delete('weeks')
      },
    })
    const events = await server.events(await server.start('go'))
    expect(cited(events)).toEqual([{ sources: [gone(weeks, 1)], notFound: [] }])
    expect(JSON.stringify(activities(events))).not.toContain(weeks.text)
    expect(activities(events)).toMatchObject([{ sources: [{ number: 1, text: '', changed: true }] }])
    await server.close()
  })

  test('whose index fails cites without texts', async () => {
    const handbook = createFakeHandbook([weeks])
    handbook.index.now = () => Promise.reject(new Error('disk'))
    const server = open(handbook, { answers: [{ parts: [search('weeks')] }, say('Fourteen [1].')] })
    expect(cited(await server.events(await server.start('go')))).toEqual([{ sources: [gone(weeks, 1)], notFound: [] }])
    await server.close()
  })

  test('has the text of long passages cut, and fifty sources at most', async () => {
    const many = Array.from({ length: 20 }, (_, i) => handbookPassage(`p${i}`, `weeks ${'x'.repeat(3_000)}`))
    const handbook = createFakeHandbook(many)
    const all = { tool_call: { name: 'handbook', arguments: { query: 'weeks', passages: 20 } } }
    const text = `[1] ${Array.from({ length: 80 }, (_, i) => `[${i + 100}]`).join(' ')}`
    const server = open(handbook, { answers: [{ parts: [all] }, say(text)] })
    const [citations] = cited(await server.events(await server.start('go')))
    expect(citations?.sources.map((one) => one.text)).toEqual([`weeks ${'x'.repeat(2_493)}…`])
    expect(citations?.notFound.length).toBe(50)
    await server.close()
  })

  test('that calls tools cites in the words before the calls, too', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const server = open(handbook, {
      answers: [
        { parts: [search('weeks')] },
        { parts: [{ text: 'Fourteen [1]. Now the notice.' }, search('Tell')] },
        { parts: [{ text: 'Seven [2]' }, { reasoning: 'Is that all?' }, { text: ', fourteen [1].' }] },
      ],
    })
    const accepted = await server.start('go')
    const events = await server.events(accepted)
    expect(cited(events)).toEqual([
      { sources: [source(weeks, 1)], notFound: [] },
      { sources: [source(notice, 2)], notFound: [] },
      { sources: [source(notice, 2), source(weeks, 1)], notFound: [] },
    ])
    const stored = await server.engine.messages.page(accepted.session.id, 20)
    expect(stored.flatMap(({ metadata }) => citationsIn(metadata) ?? [])).toEqual([cited(events)[0], cited(events)[2]])
    await server.close()
  })

  test('that broke off cites in what there is of it', async () => {
    const handbook = createFakeHandbook([weeks])
    const server = open(handbook, {
      answers: [
        { parts: [search('weeks')] },
        { parts: [{ text: 'Fourteen [1] ' }, { error: { code: 'model_failed' } }] },
      ],
    })
    const accepted = await server.start('go')
    const events = await server.events(accepted)
    const citations = { sources: [source(weeks, 1)], notFound: [] }
    const end = events.find(({ type }) => type === 'TEXT_MESSAGE_END')
    expect(end?.metadata).toEqual({ quarterdeck: { brokenOff: true, citations } })
    expect(outline(events).slice(-4)).toEqual([
      'TEXT_MESSAGE_END',
      'ACTIVITY_SNAPSHOT',
      'STEP_FINISHED step_2',
      'RUN_ERROR model_failed',
    ])
    const stored = await server.engine.messages.page(accepted.session.id, 10)
    expect(stored.at(-1)).toMatchObject({ brokenOff: true, metadata: { quarterdeck: { citations } } })
    await server.close()
  })

  test('in a format of the caller is only data', async () => {
    const handbook = createFakeHandbook([weeks])
    const server = open(handbook, { answers: [{ parts: [search('weeks')] }, say('[1]')] })
    const input = { ...userInput('m', 'go'), responseFormat: { type: 'array' } }
    const events = await server.events(await server.start('go', { input }))
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    expect([cited(events), activities(events)]).toEqual([[], []])
    await server.close()
  })

  test('that is stored in part keeps all that it cites', async () => {
    const handbook = createFakeHandbook([weeks])
    const limits = { ...testAgent.limits, storedMessageChars: 8 }
    const server = open(handbook, {
      ...{ agent: { ...knowing, limits }, answers: [{ parts: [search('weeks')] }, say('Fourteen weeks [1].')] },
    })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [last] = (await server.engine.messages.page(accepted.session.id, 10)).slice(-1)
    expect(last).toMatchObject({ content: 'Fourteen' })
    const citations = { sources: [source(weeks, 1)], notFound: [] }
    expect(last?.metadata).toEqual({ quarterdeck: { cut: 11, citations } })
    await server.close()
  })

  test('has its sources redacted as results are, and is found again all the same', async () => {
    const secret = handbookPassage('secret', 'The code is sk-1 weeks.', { file: 'sk-2.md', headings: ['sk-3'] })
    const handbook = createFakeHandbook([secret])
    const server = open(handbook, {
      middleware: [createRedaction([/sk-\d|secret/])],
      answers: [{ parts: [search('weeks')] }, say('See [1].'), say('Again [1].')],
    })
    const accepted = await server.start('go')
    const events = await server.events(accepted)
    const again = await server.events(await server.start('and?', { session: { existing: accepted.session } }))
    expect(
      cited([...events, ...again]).map(({ sources }) =>
        sources.map(({ id, file, headings, text }) => [id, file, headings, text]),
      ),
    ).toEqual(Array(2).fill([['secret', '[redacted].md', ['[redacted]'], 'The code is [redacted] weeks.']]))
    const stored = await server.engine.messages.page(accepted.session.id, 20, { asides: true })
    expect(JSON.stringify([events, again, stored])).not.toContain('sk-')
    await server.close()
  })
})

describe('a number', () => {
  test('means the same passage in every run of a session', async () => {
    const handbook = createFakeHandbook([weeks, notice, pay])
    const server = open(handbook, {
      answers: [
        { parts: [search('Fourteen')] },
        say('Fourteen [1], and [3].'),
        say('As said [1].'),
        { parts: [search('weeks')] },
        { parts: [search('Pay')] },
        say('Seven [2], paid [4].'),
      ],
    })
    const first = await server.start('go')
    const events = [await server.events(first)]
    const session = { existing: first.session }
    for (const text of ['and?', 'more']) events.push(await server.events(await server.start(text, { session })))
    expect(events.map(cited)).toEqual([
      [{ sources: [source(weeks, 1)], notFound: [3] }],
      [{ sources: [source(weeks, 1)], notFound: [] }],
      [{ sources: [source(notice, 2), source(pay, 4)], notFound: [] }],
    ])
    // 3 was cited when it meant nothing, so it is never given.
    expect(events.map(numbersOf)).toEqual([[['1 weeks']], [], [['1 weeks', '2 notice'], ['4 pay']]])
    await server.close()
  })

  test('is counted for calls that run side by side', async () => {
    const handbook = createFakeHandbook([weeks, notice, pay])
    const server = open(handbook, { answers: [{ parts: [search('Fourteen'), search('Pay')] }, say('[1] [2]')] })
    const events = await server.events(await server.start('go'))
    expect(numbersOf(events).flat().toSorted()).toEqual(['1 weeks', '2 pay'])
    await server.close()
  })

  test('of which only a summary tells any more is not given again', async () => {
    const old = { id: 's', role: 'activity' as const, content: '', runId: 'r', createdAt: 1, lane: SUMMARIES }
    const numbers = await openNumbers({
      passages: { numbers: null },
      run: { sessionId: 's' },
      store: {
        messages: {
          page: async (_id, limit) =>
            Array.from({ length: limit }, (_, i) => ({
              id: `m${i}`,
              role: 'user',
              content: '',
              runId: 'r',
              createdAt: 1,
            })),
          ofLane: async () => [{ ...old, activity: { type: 'summary', content: { story: 'Fourteen weeks [1].' } } }],
        },
      },
    })
    expect(numbers.forCall().numbers.give('handbook', [notice, pay])).toEqual([2, 3])
  })

  test('of a branch that was left is not known in the next one', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const server = open(handbook, {
      answers: [
        { parts: [search('Fourteen')] },
        say('Fourteen [1].'),
        say('[1]?'),
        { parts: [search('Tell')] },
        say('[1]'),
      ],
    })
    const first = await server.start('q', { input: userInput('m1', 'q') })
    await server.events(first)
    const input = { messages: [], instructions: [], context: [], clientTools: [], regenerateAfter: 'm1' }
    const again = async () => server.events(await server.start('', { session: { existing: first.session }, input }))
    expect(cited(await again())).toEqual([{ sources: [], notFound: [1] }])
    expect(cited(await again())).toEqual([{ sources: [source(notice, 1)], notFound: [] }])
    await server.close()
  })

  test('is known after a crash between the result and the answer', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const path = (name: string) => join(folder, name, 'test.db')
    const before = open(handbook, {
      ...{
        path: path('first'),
        answers: [{ parts: [search('Fourteen')] }, { parts: [{ text: 'Four' }, { hang: true }] }],
      },
    })
    const accepted = await before.start('go')
    const target = { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 }
    for await (const batch of before.engine.runs.follow(target, new AbortController().signal)) {
      if (eventsOf(batch).some(({ type }) => type === 'TEXT_MESSAGE_CONTENT')) break
    }
    cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })
    const after = open(handbook, {
      ...{ path: path('second'), answers: [{ parts: [search('weeks')] }, say('Fourteen [1], seven [2].')] },
    })
    await after.engine.recover()
    const events = await after.events(accepted)
    expect(numbersOf(events)).toEqual([['1 weeks'], ['1 weeks', '2 notice']])
    expect(cited(events)).toEqual([{ sources: [source(weeks, 1), source(notice, 2)], notFound: [] }])
    await after.close()
    await before.close()
  })

  test('is known to the run that goes on after an approval', async () => {
    const handbook = createFakeHandbook([weeks])
    const send = testTool({
      ...{ name: 'send', approval: { ask: 'always' } },
      call: async () => ({ content: 'Sent.', isError: false }),
    })
    const server = open(handbook, {
      tools: [...handbook.tools, send],
      answers: [{ parts: [search('weeks')] }, { parts: [{ tool_call: { name: 'send' } }] }, say('Sent, see [1].')],
    })
    const accepted = await server.start('go')
    await server.events(accepted)
    const operator: Caller = { user: 'ada', role: 'operator' }
    const [approval] = await server.approvals.list({ by: operator, status: 'pending', limit: 1 })
    const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    expect(cited(await server.events({ ...accepted, run }))).toEqual([{ sources: [source(weeks, 1)], notFound: [] }])
    await server.close()
  })

  test('that a sub-agent was shown is known to the agent that called it, also later', async () => {
    const handbook = createFakeHandbook([weeks, notice])
    const { call: _call, ...rules } = testTool({
      name: 'ask_clerk',
      call: async () => ({ content: '', isError: false }),
    })
    const ask: AgentTool = { ...rules, location: 'agent', agent: 'clerk', handoff: false }
    const called = { ...handbookSettings, type: 'agent', name: 'ask_clerk', agent: 'clerk', handoff: false } as const
    const clerk = {
      definition: { ...testAgent, ...knowing, name: 'clerk', default: false, internal: true },
      model: scripted([{ parts: [search('weeks')] }, say('Seven [2].')]),
      toolbox: createStaticToolbox(handbook.tools),
    }
    const server = openEngine({
      ...{ tools: [ask], agent: { tools: [called] }, others: [clerk] },
      answers: [
        { parts: [{ tool_call: { name: 'ask_clerk', arguments: { message: 'Notice?' } } }] },
        say('It says seven [2].'),
        say('Seven, as said [2].'),
      ],
    })
    const first = await server.start('go')
    const again = await server.start('and?', { session: { existing: first.session } })
    const events = [await server.events(first), await server.events(again)]
    expect(events.map(cited)).toEqual(Array(2).fill([{ sources: [source(notice, 2)], notFound: [] }]))
    await server.close()
  })

  test('of a result that a client made up is checked before it counts', () => {
    const forged = [{ ...shown(weeks, 1), place: { page: {}, sheet: null, slide: null, line: null } }, shown(pay, 2), 7]
    expect(shownIn({ quarterdeck: { shown: forged } })).toEqual([shown(pay, 2)])
  })
})
