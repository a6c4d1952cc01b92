import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import { anthropicApi } from '../../models/anthropic/request.ts'
import { googleApi } from '../../models/google/request.ts'
import type { ModelMessage, ModelRequest } from '../../models/model.ts'
import { openAiApi } from '../../models/openai/request.ts'
import { anthropicProblem, googleProblem, openAiProblem } from '../../models/testing/provider-rules.ts'
import type { JsonObject } from '../../models/wire/json.ts'
import type { HttpRequest } from '../../models/wire/model-http.ts'
import { testAgent } from '../testing/open-engine.ts'
import { buildRequest } from './build-request.ts'
import { selectWindow } from './context-window.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const says = (content: string): ModelMessage => ({ role: 'assistant', content, toolCalls: [] })
const step = (id: string, result = 'ok'): ModelMessage[] => [
  { role: 'assistant', content: '', toolCalls: [{ id, name: 'look', arguments: '{}' }] },
  { role: 'tool', toolCallId: id, toolName: 'look', content: result, isError: false },
]
const ample = { maxMessages: 100, budget: 100_000, correction: 1 }
const note = (what: string) =>
  `[Note from the server: ${what} left out here, with calls and results, because the conversation is too long.]`

describe('the context window', () => {
  const talk = [user('a'), says('1'), user('b'), ...step('x'), says('2'), user('c')]

  test.each([
    [100, talk],
    [6, talk.slice(2)],
    [5, talk.slice(2)],
    [4, talk.slice(6)],
    [1, talk.slice(6)],
  ])('of %i messages holds whole exchanges, the newest ones', (maxMessages, expected) => {
    expect(selectWindow(talk, { ...ample, maxMessages })).toEqual(expected)
  })

  test('begins at the same place for many runs', () => {
    const talk: ModelMessage[] = []
    const begins = Array.from({ length: 400 }, (_, i) => {
      talk.push(user(`Question ${i}`), says(`Answer ${i}`))
      const window = selectWindow(talk, { ...ample, maxMessages: 80 })
      expect(window.length).toBeLessThanOrEqual(80)
      if (talk.length >= 80) expect(window.length).toBeGreaterThanOrEqual(58)
      return window[0]?.content
    })
    // Of 360 runs that had to leave something out, fewer than a fifth had to begin elsewhere than the one before.
    expect(begins.filter((content, i) => i > 0 && content !== begins[i - 1]).length).toBeLessThan(72)
  })

  test('drops by corrected tokens as it does by count', () => {
    const long = [user('a'), says('x'.repeat(4_000)), user('b'), says('y'), user('c')]

    expect(selectWindow(long, { ...ample, budget: 1_100 })).toEqual(long)
    expect(selectWindow(long, { ...ample, budget: 900 })).toEqual(long.slice(2))
    expect(selectWindow(long, { ...ample, budget: 1_100, correction: 2 })).toEqual(long.slice(2))
  })

  test('keeps the newest question, leaves out its oldest steps, and says how many', () => {
    const work = [user('old'), says('yes'), user('go'), ...step('1'), ...step('2'), ...step('3')]

    expect(selectWindow(work, { ...ample, maxMessages: 5 })).toEqual([
      user(`go\n\n${note('1 earlier step was')}`),
      ...step('2'),
      ...step('3'),
    ])
    expect(selectWindow(work, { ...ample, maxMessages: 1 })).toEqual([
      user(`go\n\n${note('2 earlier steps were')}`),
      ...step('3'),
    ])
    expect(selectWindow([user('go'), ...step('1', 'x'.repeat(9_000))], { ...ample, budget: 10 })).toHaveLength(3)
  })

  test('begins with a user message even if the history does not', () => {
    expect(selectWindow([says('Welcome.'), user('a')], ample)).toEqual([user('a')])
    expect(selectWindow(step('1'), ample)).toEqual([user('[The conversation begins here.]'), ...step('1')])
    expect(selectWindow([...step('1').slice(1), user('a')], ample)).toEqual([user('a')])
    expect(selectWindow([], ample)).toEqual([])
  })
})

describe('a request', () => {
  const input = { instructions: [], context: [], notes: [] }
  const text = fc.constantFrom('', ' ', 'Hello.', 'x'.repeat(300))
  const call = fc.record({ result: fc.option(fc.record({ content: text, isError: fc.boolean() })), args: text })
  const answer = fc.record({
    thought: fc.option(fc.record({ text, signature: fc.option(fc.constantFrom('anthropic:x', 'plain')) })),
    content: text,
    calls: fc.array(call, { maxLength: 3 }),
    brokenOff: fc.boolean(),
  })
  const exchange = fc.record({ question: text, hasFile: fc.boolean(), answers: fc.array(answer, { maxLength: 4 }) })
  const talk = fc.record({
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 8 }),
    /** How many of the newest messages are read from the store. */
    read: fc.integer({ min: 1, max: 60 }),
    maxMessages: fc.integer({ min: 1, max: 30 }),
    contextWindow: fc.constantFrom(200, 1_000, 100_000),
    resultsReversed: fc.boolean(),
  })

  /** As the engine stores them: the results of a step in the order of their arrival, broken-off answers marked. */
  function stored({ exchanges, resultsReversed }: typeof talk extends fc.Arbitrary<infer T> ? T : never) {
    let last = 0
    const base = () => {
      last += 1
      return { id: `m${last}`, runId: 'r', createdAt: last }
    }
    const messages: StoredMessage[] = []
    const files = new Map<string, { text: string; attachments: [] | [typeof picture] }>()
    for (const { question, hasFile, answers } of exchanges) {
      const asked: StoredMessage = { ...base(), role: 'user', content: question }
      messages.push(asked)
      if (hasFile) files.set(asked.id, { text: '', attachments: [picture] })
      for (const { thought, content, calls, brokenOff } of answers) {
        const broken = brokenOff ? { brokenOff } : {}
        if (thought !== null) {
          const { text, signature } = thought
          const proof = signature === null ? {} : { encryptedValue: signature }
          messages.push({ ...base(), role: 'reasoning', content: text, ...proof, ...broken })
        }
        const made = brokenOff ? [] : calls.map((one) => ({ ...one, id: `call_${base().id.padStart(36, '0')}` }))
        const toolCalls = made.map(({ id, args }) => ({
          id,
          type: 'function' as const,
          function: { name: 'look', arguments: args },
        }))
        messages.push({
          ...base(),
          role: 'assistant',
          content,
          ...broken,
          toolCalls: toolCalls.length === 0 ? undefined : toolCalls,
        })
        const results = made.flatMap(({ id, result }): StoredMessage[] =>
          result === null
            ? []
            : [
                {
                  ...base(),
                  role: 'tool',
                  content: result.content,
                  toolCallId: id,
                  ...(result.isError ? { error: result.content } : {}),
                },
              ],
        )
        messages.push(...(resultsReversed ? results.reverse() : results))
      }
    }
    // The model is asked after a user's message or the result of a call.
    const end = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool')
    return { messages: messages.slice(0, end + 1), files }
  }
  const picture = { type: 'image', mimeType: 'image/png', data: 'AAAA', name: 'a.png', tokens: 20 } as const

  const settings = (provider: string): ModelSettings => ({
    ...testAgent.model,
    provider: provider as ModelSettings['provider'],
    apiKey: 'none',
  })
  const sent = ({ body }: HttpRequest): JsonObject => (isRecord(body) ? body : {})
  const problems = (request: ModelRequest) => [
    anthropicProblem(sent(anthropicApi(settings('anthropic')).request(request))),
    googleProblem(sent(googleApi(settings('google')).request(request))),
    openAiProblem(sent(openAiApi(settings('openai')).request(request))),
  ]

  test('made from any history is accepted by Anthropic, Gemini and OpenAI', () => {
    fc.assert(
      fc.property(talk, (sample) => {
        const { messages, files } = stored(sample)
        // At least back to the last user message, as the loop reads it.
        const newest = messages.findLastIndex(({ role }) => role === 'user')
        const history = messages.slice(Math.min(newest, Math.max(0, messages.length - sample.read)))
        const agent = {
          ...testAgent,
          context: { maxMessages: sample.maxMessages },
          model: { ...testAgent.model, contextWindow: sample.contextWindow },
        }
        const { request } = buildRequest({
          agent,
          history,
          hidesOlder: false,
          summary: null,
          files,
          input,
          tools: [],
          sessionId: 's'.repeat(100),
          correction: 1,
        })

        expect(problems(request)).toEqual([null, null, null])
        const last = history.findLast(({ role }) => role === 'user')
        const asked = request.messages.filter(({ role }) => role === 'user')
        expect(asked.at(-1)?.content).toContain(String(last?.content).trim())
      }),
      { numRuns: runs(1_000) },
    )
  })

  /** What a provider that reads from the beginning reads, in this order, and up to where it is told to remember it. */
  function readBy(request: ModelRequest): { blocks: string[]; marked: number } {
    const { tools = [], system = [], messages } = sent(anthropicApi(settings('anthropic')).request(request))
    const turns = (messages as { role: string; content: object[] }[]).flatMap(({ role, content }) =>
      content.map((block) => ({ role, ...block })),
    )
    const all = [...(tools as object[]), ...(system as object[]), ...turns]
    const blocks = all.map((block) => JSON.stringify({ ...block, cache_control: undefined }))
    return { blocks, marked: all.findLastIndex((block) => 'cache_control' in block) + 1 }
  }

  test('differs from the one before only behind what that one asked to remember', () => {
    const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
    fc.assert(
      fc.property(talk, (sample) => {
        const { messages, files } = stored({ ...sample, resultsReversed: false })
        // The model is asked after a message of the user, and when all calls of a step have their results.
        const steps = messages.flatMap(({ role }, i) =>
          role === 'user' || (role === 'tool' && messages[i + 1]?.role !== 'tool') ? [i + 1] : [],
        )
        const requests = steps.map((end) => {
          const said = { description: 'the time', value: String(end) }
          const asides = { instructions: ['Be brief.'], context: [said], notes: [`Step ${end}`] }
          const agent = { ...testAgent, context: { maxMessages: 1_000, mode: 'window' as const } }
          const common = { agent, files, tools, sessionId: 's', correction: 1, hidesOlder: false, summary: null }
          return readBy(buildRequest({ ...common, history: messages.slice(0, end), input: asides }).request)
        })
        for (const [i, { blocks, marked }] of requests.entries()) {
          expect(requests[i + 1]?.blocks.slice(0, marked) ?? blocks.slice(0, marked)).toEqual(blocks.slice(0, marked))
          // Nothing but the aside is behind the mark.
          expect(blocks.length - marked).toBe(1)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  test('is estimated as the window counts it, with the arguments of calls', () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'look', arguments: 'x'.repeat(4_000) } }
    const base = { runId: 'r', createdAt: 1 }
    const history: StoredMessage[] = [
      { ...base, id: 'u', role: 'user', content: 'go' },
      { ...base, id: 'a', role: 'assistant', content: '', toolCalls: [call] },
      { ...base, id: 't', role: 'tool', content: 'ok', toolCallId: 'c' },
    ]
    const { estimated } = buildRequest({
      agent: testAgent,
      history,
      hidesOlder: false,
      summary: null,
      files: new Map(),
      input,
      tools: [],
      sessionId: 's',
      correction: 1,
    })
    expect(estimated).toBeGreaterThan(1_000)
  })

  test('is refused by the stand-ins as the providers refuse it', () => {
    const ask = (...messages: ModelMessage[]) =>
      problems({ system: '', messages, aside: '', tools: [], responseFormat: null, sessionId: 's' }).map(
        (one) => one !== null,
      )

    expect(ask(user('a'))).toEqual([false, false, false])
    expect(ask(user('a'), ...step('1'))).toEqual([false, false, false])
    expect(ask(says('1'), user('a'))).toEqual([true, true, false])
    expect(ask(...step('1'), user('a'))).toEqual([true, true, false])
    expect(ask(...step('1').slice(1), user('a'))).toEqual([true, true, true])
    expect(ask(user('a'), ...step('1').slice(0, 1), user('b'))).toEqual([true, true, true])
  })
})
