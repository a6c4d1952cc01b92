import { describe, expect, test } from 'vitest'
import type { AnswerCase, SearchCase } from '../domain/agent/test-case.ts'
import { createSystemClock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { RunEvent } from '../domain/session/event.ts'
import type { FileRecord } from '../domain/session/file.ts'
import { filePart } from '../domain/session/message.ts'
import type { Hit } from '../knowledge/knowledge.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import type { MadeCall } from './case-result.ts'
import { type CaseDeps, checkTools, runCase } from './run-case.ts'
import { runCases } from './run-cases.ts'
import { calls, createScriptedEngine, finished, type ScriptedEngine, says } from './testing/scripted-engine.ts'

const never = new AbortController().signal

const fileAt = (path: string): FileRecord => ({
  id: path,
  owner: 'local_user',
  sessionId: null,
  name: path,
  mimeType: 'text/plain',
  bytes: 1,
  sha256: '',
  createdAt: 0,
})

const caseOf = (given: Partial<AnswerCase>): AnswerCase => ({
  name: 'a case',
  turns: ['Hi'],
  files: [],
  tools: [],
  onlyTheseTools: false,
  approvals: [],
  checks: [],
  timeoutMs: 1_000,
  ...given,
})

let ids = 0
const depsOf = (engine: ScriptedEngine, given: Partial<CaseDeps> = {}): CaseDeps => ({
  engine,
  judge: () => null,
  attach: async (path) => fileAt(path),
  search: () => async () => ({ hits: [], usage: [], lacks: [] }),
  clock: createManualClock(),
  ids: { uuid: () => `id-${++ids}` },
  ...given,
})

const contains = (text: string) => ({ check: 'contains', text, ignoreCase: false }) as const

describe('a test case', () => {
  test('runs its turns in its own session, and checks the last answer and the calls of all turns', async () => {
    const engine = createScriptedEngine((text) =>
      text === 'Hi'
        ? [...says('Hello'), ...calls('look', { at: 'sky' }), finished(10, 5)]
        : [...says('I see.', 'm1'), ...calls('note', {}), ...says('It is blue.', 'm2'), finished(20, 7)],
    )
    const testCase = caseOf({
      turns: ['Hi', 'And?'],
      tools: [
        { name: 'look', arguments: { at: 'sky' } },
        { name: 'note', arguments: null },
      ],
      checks: [contains('I see.\n\nIt is blue.'), { check: 'not_contains', text: 'Hello', ignoreCase: false }],
    })

    expect(await runCase({ agent: 'tester', testCase }, depsOf(engine), never)).toEqual({
      agent: 'tester',
      name: 'a case',
      outcome: 'passed',
      findings: [],
      durationMs: 0,
      tokens: { input: 30, output: 12 },
      answer: 'I see.\n\nIt is blue.',
      calls: [
        { name: 'look', arguments: { at: 'sky' }, bySubagent: false },
        { name: 'note', arguments: {}, bySubagent: false },
      ],
    })
    expect(engine.requests.map(({ agent, session }) => [agent, session])).toEqual([
      ['tester', { create: { unlisted: true } }],
      ['tester', { existing: expect.objectContaining({ id: 'session-1' }) }],
    ])
  })

  test('leaves out messages of a sub-agent and messages that broke off', async () => {
    const attributed = (event: RunEvent): RunEvent => Object.assign(event, { subagentRunId: 'sub' })
    const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }
    const engine = createScriptedEngine(() => [
      ...calls('tutor', {}).slice(0, 4),
      ...[...says('Between us.', 's1'), ...calls('search', {})].map(attributed),
      ...says('Half an ans', 'm1').slice(0, 2),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1', ...brokenOff },
      ...calls('lost', {}).slice(0, 2),
      { type: 'TOOL_CALL_END', toolCallId: 'lost', ...brokenOff },
      ...says('A whole answer.', 'm2'),
      finished(),
    ])

    const { answer, calls: made } = await runCase({ agent: 'a', testCase: caseOf({}) }, depsOf(engine), never)

    expect(answer).toBe('A whole answer.')
    expect(made).toEqual([
      { name: 'tutor', arguments: {}, bySubagent: false },
      { name: 'search', arguments: {}, bySubagent: true },
    ])
  })

  test('sends its files with the first message', async () => {
    const engine = createScriptedEngine((text) => [...says(text), finished()])
    const testCase = caseOf({ turns: ['Read', 'Again'], files: ['/x/a.txt', '/x/b.md'] })

    await runCase({ agent: 'a', testCase }, depsOf(engine), never)

    expect(engine.requests.map(({ files, input }) => [files, input.messages[0]?.content])).toEqual([
      [
        ['/x/a.txt', '/x/b.md'],
        [{ type: 'text', text: 'Read' }, filePart(fileAt('/x/a.txt')), filePart(fileAt('/x/b.md'))],
      ],
      [[], 'Again'],
    ])
  })

  test.each<[string, RunEvent, 'failed' | 'error', string]>([
    [
      'an approval',
      {
        type: 'RUN_FINISHED',
        threadId: 't',
        runId: 'r',
        outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'tool_call', toolCallId: 'pay' }] },
      },
      'failed',
      'the run waits for approval of pay, and the case has no answer for it under approvals',
    ],
    [
      'the answer to a question of a tool',
      {
        type: 'RUN_FINISHED',
        threadId: 't',
        runId: 'r',
        outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'input_required', toolCallId: 'pay' }] },
      },
      'failed',
      'the run waits for the answer to a question of pay, and a case cannot answer questions: replace the tool with one that does not ask, or test it through the server',
    ],
    [
      'a client tool',
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success', pendingToolCallIds: ['pay'] } },
      'failed',
      'the run waits for a client to run pay, and a test has no client',
    ],
    [
      'an error',
      { type: 'RUN_ERROR', message: 'The model is away.', code: 'model_unreachable' },
      'error',
      'the run failed with model_unreachable: The model is away.',
    ],
    [
      'a cancellation',
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } },
      'error',
      'the run was cancelled',
    ],
  ])('that ends with %s says so and runs no further turn', async (_, end, outcome, found) => {
    const engine = createScriptedEngine(() => [...calls('pay', {}).slice(0, 4), end])
    const testCase = caseOf({ turns: ['Pay', 'Thanks'], checks: [contains('paid')] })

    const result = await runCase({ agent: 'a', testCase }, depsOf(engine), never)

    expect([result.outcome, result.findings]).toEqual([
      outcome,
      [{ check: 'run', expected: 'an answer in turn 1', found }],
    ])
    expect(engine.requests).toHaveLength(1)
  })

  test('answers approvals, those of one tool in order, and reports answers that no approval asked for', async () => {
    const asks = (...ids: string[]): RunEvent => ({
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: {
        type: 'interrupt',
        interrupts: ids.map((id) => ({ id: `approval-${id}`, reason: 'tool_call', toolCallId: id })),
      },
    })
    const engine = createScriptedEngine((text, { decisions }) => {
      if (text !== '')
        return [...calls('pay', {}, 'c1').slice(0, 4), ...calls('mail', {}, 'c2').slice(0, 4), asks('c1', 'c2')]
      return decisions?.answers.length === 2
        ? [...calls('pay', {}, 'c3').slice(0, 4), asks('c3')]
        : [...says('Done.'), finished(1, 2)]
    })
    const answer = { arguments: null, reason: null }
    const approvals: AnswerCase['approvals'] = [
      { ...answer, tool: 'pay', decision: 'reject', reason: 'Too much.' },
      { ...answer, tool: 'pay', decision: 'approve', arguments: { amount: 1 } },
      { ...answer, tool: 'mail', decision: 'approve' },
      { ...answer, tool: 'shred', decision: 'reject' },
    ]

    const result = await runCase({ agent: 'a', testCase: caseOf({ approvals }) }, depsOf(engine), never)

    expect(engine.requests.map(({ decisions }) => decisions)).toEqual([
      undefined,
      {
        by: { user: 'local_user', role: 'operator' },
        answers: [
          { waitId: 'approval-c1', decision: 'reject', reason: 'Too much.' },
          { waitId: 'approval-c2', decision: 'approve' },
        ],
      },
      {
        by: { user: 'local_user', role: 'operator' },
        answers: [{ waitId: 'approval-c3', decision: 'approve', arguments: { amount: 1 } }],
      },
    ])
    expect([result.answer, result.calls.length, result.outcome, result.findings]).toEqual([
      'Done.',
      3,
      'failed',
      [{ check: 'approvals', expected: 'an approval of shred to reject', found: 'no such approval' }],
    ])
  })

  test('that takes too long fails, and its run is cancelled', async () => {
    const clock = createManualClock()
    const engine = createScriptedEngine(() => says('Wait'))
    const running = runCase({ agent: 'a', testCase: caseOf({ timeoutMs: 30_000 }) }, depsOf(engine, { clock }), never)
    await clock.advance(30_000)

    expect(await running).toMatchObject({
      outcome: 'failed',
      findings: [{ check: 'time', expected: 'an end within 30 s', found: 'still at turn 1 of 1' }],
      durationMs: 30_000,
      answer: 'Wait',
    })
    expect(engine.cancelled).toEqual(['run-1'])
    expect(clock.pending).toBe(0)
  })

  test('that cannot be run is an error, and a finding has a limited length', async () => {
    const engine = createScriptedEngine(() => [...says('x'.repeat(5_000)), finished()])
    const refused = depsOf(engine, {
      async attach() {
        throw new ServerError('invalid_request', 'a.pdf cannot be sent: it is not UTF-8 text.')
      },
    })

    expect(await runCase({ agent: 'a', testCase: caseOf({ files: ['/a.pdf'] }) }, refused, never)).toMatchObject({
      outcome: 'error',
      findings: [{ found: 'invalid_request: a.pdf cannot be sent: it is not UTF-8 text.' }],
    })
    const long = await runCase({ agent: 'a', testCase: caseOf({ checks: [contains('y')] }) }, depsOf(engine), never)
    expect([long.answer.length, long.findings[0]?.found]).toEqual([5_000, `"${'x'.repeat(1_999)}… (5002 characters)`])
  })

  test('a bug rejects and is not a result', async () => {
    const engine = createScriptedEngine(() => [...says('Hello'), finished()])
    const judge = () => {
      throw new TypeError('bug')
    }

    await expect(
      runCase({ agent: 'a', testCase: caseOf({ checks: [contains('x')] }) }, depsOf(engine, { judge }), never),
    ).rejects.toThrow('bug')
  })
})

describe('several test cases', () => {
  const names = ['one', 'two', 'three', 'four', 'five']
  const cases = names.map((name) => ({ agent: 'a', testCase: caseOf({ name, turns: [name] }) }))

  test('run in parallel up to the limit, and their results are in order', async () => {
    let active = 0
    let most = 0
    const engine = createScriptedEngine((text) => [...says(text), finished()])
    const deps = depsOf(engine, { clock: createSystemClock() })
    const order: string[] = []

    const results = await runCases(cases, deps, {
      parallel: 2,
      stop: never,
      onBegin() {
        active += 1
        most = Math.max(most, active)
      },
      onResult({ name }) {
        active -= 1
        order.push(name)
      },
    })

    expect(results.map(({ name, answer }) => [name, answer])).toEqual(names.map((name) => [name, name]))
    expect([most, order.toSorted()]).toEqual([2, names.toSorted()])
  })

  test('on stop keep their results; running ones are stopped, the rest do not begin', async () => {
    const stop = new AbortController()
    const engine = createScriptedEngine((text) => (text === 'one' ? [...says('done'), finished()] : says('never ends')))
    let begun = 0

    const results = await runCases(cases, depsOf(engine), {
      parallel: 1,
      stop: stop.signal,
      onBegin() {
        begun += 1
        if (begun === 2) setImmediate(() => stop.abort())
      },
    })

    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'stopped', 'stopped', 'stopped', 'stopped'])
    expect([engine.requests.length, engine.cancelled]).toEqual([2, ['run-2']])
  })
})

const made = (name: string, args: MadeCall['arguments'] = {}, bySubagent = false): MadeCall => ({
  name,
  arguments: args,
  bySubagent,
})
const wants = (name: string, args: Record<string, unknown> | null = null) => ({ name, arguments: args })

describe('expected tools', () => {
  test('must be called in their order; other calls may come between them', () => {
    const calls = [made('search'), made('think'), made('read'), made('answer')]

    expect(checkTools({ tools: [wants('search'), wants('answer')], onlyTheseTools: false }, calls)).toEqual([])
    expect(checkTools({ tools: [wants('answer'), wants('search')], onlyTheseTools: false }, calls)).toEqual([
      { check: 'tools', expected: 'search after answer', found: 'search({}), think({}), read({}), answer({})' },
    ])
  })

  test('must be called with the named arguments; other arguments are allowed', () => {
    const calls = [made('weather', { city: 'Bergen', days: 3, where: { lat: 60, lon: 5 } })]
    const expecting = (args: Record<string, unknown>) =>
      checkTools({ tools: [wants('weather', args)], onlyTheseTools: false }, calls)

    expect(expecting({ city: 'Bergen' })).toEqual([])
    expect(expecting({ where: { lon: 5, lat: 60 } })).toEqual([])
    expect(expecting({ city: 'Oslo' })).toEqual([
      {
        check: 'tools',
        expected: 'weather({"city":"Oslo"})',
        found: 'weather({"city":"Bergen","days":3,"where":{"lat":60,"lon":5}})',
      },
    ])
    expect(expecting({ toString: null })).toHaveLength(1)
  })

  test('the same tool twice needs two calls, and one missing call is one finding', () => {
    const tools = [wants('add'), wants('add'), wants('show')]

    expect(checkTools({ tools, onlyTheseTools: false }, [made('add'), made('add'), made('show')])).toEqual([])
    expect(checkTools({ tools, onlyTheseTools: false }, [made('add'), made('show')])).toEqual([
      { check: 'tools', expected: 'add after add', found: 'add({}), show({})' },
    ])
  })

  test('a call whose arguments are not a JSON object does not match expected arguments', () => {
    const calls = [made('add', null)]

    expect(checkTools({ tools: [wants('add')], onlyTheseTools: false }, calls)).toEqual([])
    expect(checkTools({ tools: [wants('add', {})], onlyTheseTools: false }, calls)).toHaveLength(1)
  })

  test('`onlyTheseTools` refuses other tools, except those that a sub-agent calls', () => {
    const calls = [made('tutor'), made('search', {}, true), made('delete', { id: 1 })]

    expect(checkTools({ tools: [wants('tutor'), wants('search')], onlyTheseTools: true }, calls.slice(0, 2))).toEqual(
      [],
    )
    expect(checkTools({ tools: [wants('tutor')], onlyTheseTools: true }, calls)).toEqual([
      { check: 'tools', expected: 'no tool calls except tutor', found: 'delete({"id":1})' },
    ])
    expect(checkTools({ tools: [], onlyTheseTools: true }, [made('delete')])).toEqual([
      { check: 'tools', expected: 'no tool calls', found: 'delete({})' },
    ])
  })
})

describe('a case that measures a search', () => {
  const hit = (file: string): Hit => ({
    passage: { id: file, file, place: { page: null, sheet: null, slide: null, line: 1 }, headings: [], text: 'Text.' },
    score: 1,
    byWords: 1,
    byMeaning: null,
  })
  const question = (text: string, file: string) => ({
    ...{ question: text, files: [file], heading: null, page: null, contains: [] },
  })
  const testCase: SearchCase = {
    name: 'finds it',
    knowledge: 'handbook',
    questions: [question('Leave?', 'leave.md'), question('Dogs?', 'dogs.md')],
    recallAt5: 0.5,
    mrr: null,
    timeoutMs: 1_000,
  }
  const engine = createScriptedEngine(() => [])
  const asked: string[] = []
  const deps = depsOf(engine, {
    search: (agent, tool) => async (query) => {
      asked.push(`${agent} ${tool} ${query}`)
      const usage = [{ provider: 'p', model: 'm', inputTokens: 4 }]
      return { hits: [hit('travel.md'), hit('leave.md')], usage, lacks: [] }
    },
  })

  test('asks no model, and passes if enough is found', async () => {
    expect(await runCase({ agent: 'clerk', testCase }, deps, never)).toEqual({
      agent: 'clerk',
      name: 'finds it',
      outcome: 'passed',
      findings: [],
      durationMs: 0,
      tokens: { input: 8, output: 0 },
      answer: 'recall@1 0.00, recall@5 0.50, recall@10 0.50, MRR 0.25 of 2 questions',
      calls: [],
    })
    expect(asked).toEqual(['clerk handbook Leave?', 'clerk handbook Dogs?'])
    expect(engine.requests).toEqual([])
  })

  test('fails with what was found instead', async () => {
    const wanted = { ...testCase, recallAt5: 0.9, mrr: 0.7 }
    const { outcome, findings } = await runCase({ agent: 'clerk', testCase: wanted }, deps, never)
    const measured = 'recall@1 0.00, recall@5 0.50, recall@10 0.50, MRR 0.25 of 2 questions'
    expect([outcome, findings]).toEqual([
      'failed',
      [
        {
          check: 'recall@5',
          expected: 'at least 0.9',
          found: `${measured}\nDogs? Expected dogs.md; found travel.md, line 1; leave.md, line 1.`,
        },
        { check: 'mrr', expected: 'at least 0.7', found: measured },
      ],
    ])
  })

  test('is an error if the documents cannot be searched', async () => {
    const search = () => async () => Promise.reject(new ServerError('not_ready', 'The server is not ready.'))
    expect(await runCase({ agent: 'clerk', testCase }, depsOf(engine, { search }), never)).toMatchObject({
      outcome: 'error',
      findings: [{ check: 'run', found: 'not_ready: The server is not ready.' }],
    })
  })
})
