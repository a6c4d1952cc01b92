import { describe, expect, test } from 'vitest'
import { createClient } from '../../../client/client.ts'
import type { ModelAgent } from '../../../domain/agent/agent.ts'
import type { ApprovalRule } from '../../../domain/agent/approval-rule.ts'
import type { Skill } from '../../../domain/agent/skill.ts'
import type { TestCase } from '../../../domain/agent/test-case.ts'
import type { Risk } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { type openEngine, testTool } from '../../../engine/testing/open-engine.ts'
import { createTestHistory } from '../../../evaluation/test-history.ts'
import { createTestRuns } from '../../../evaluation/test-runs.ts'
import { createScriptedEngine, finished, says } from '../../../evaluation/testing/scripted-engine.ts'
import { operatorToken } from '../../../http/testing/server-fixture.ts'
import { createNotes } from '../../../log/notes.ts'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { asAda, asOperator, asOperatorElsewhere, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { approvalWords } from './approval-words.ts'
import { createManagedAgentRoutes } from './routes.ts'

const testCase = (name: string, contains: string): TestCase => ({
  name,
  turns: ['Hi'],
  files: [],
  tools: [],
  onlyTheseTools: false,
  approvals: [],
  checks: [{ check: 'contains', text: contains, ignoreCase: false }],
  timeoutMs: 60_000,
})

const source = {
  path: '/srv/agent.yaml',
  text: 'name: tester\napi_key: [masked]\nurl: https://u:pw@x.test # sk-0123456789',
}
const skill: Skill = {
  name: 'letters',
  description: 'Writes letters.',
  compatibility: null,
  directory: '/srv/skills/letters',
  body: 'Be polite.',
  files: [{ path: 'form.md', bytes: 4, text: 'Form' }],
  bytes: 60,
  digest: 'd1',
}
const agent: Partial<ModelAgent> = {
  source,
  skills: [skill],
  suggestions: ['What can you do?'],
  testCases: [testCase('greets', 'Hello'), testCase('sings', 'La')],
}

async function openAgents({ endless = false, fails = false } = {}) {
  const opened: string[] = []
  const engine = createScriptedEngine(() => (endless ? says('Hel') : [...says('Hello.'), finished(3, 2)]))
  const clock = createManualClock()
  const testsOf = ({ store, log }: Pick<ReturnType<typeof openEngine>, 'store' | 'log'>) =>
    createTestRuns({
      history: async () =>
        createTestHistory({
          notes: createNotes({ log, outbox: store.outbox, clock }),
          clock,
          logger: silentLogger,
        }),
      clock,
      async open() {
        if (fails) throw new ServerError('config_invalid', 'A key is missing.')
        opened.push('open')
        return {
          ...{ engine, clock, judge: () => null, ids: { uuid: () => 'id' } },
          attach: async () => Promise.reject(new Error('no files')),
          search: () => async () => Promise.reject(new Error('no documents')),
          [Symbol.asyncDispose]: async () => void opened.push('closed'),
        }
      },
    })
  let tests: ReturnType<typeof testsOf> | undefined
  const pay = testTool({ name: 'pay', risk: 'critical', call: async () => ({ content: '', isError: false }) })
  const doors = await openDoors({ agent, tools: [pay] }, (parts) => {
    tests = testsOf(parts)
    return createManagedAgentRoutes({
      engine: parts.engine,
      tests,
      version: '1.0.0',
      checkAgentText: async (text) => [{ line: 1, column: 2, path: '', message: text }],
    })
  })
  if (tests === undefined) throw new Error('no routes were made')
  return { doors, opened, tests }
}

describe('GET /agents', () => {
  test('shows the agents, without their files', async () => {
    await using doors = (await openAgents()).doors
    const { agents } = (await (await doors.get('/agents', asOperator)).json()) as { agents: object[] }
    expect(agents).toEqual([
      {
        name: 'tester',
        description: 'An agent for tests.',
        is_default: true,
        host: null,
        try_models: [],
        model: { provider: 'scripted', name: 'script' },
        tools: [
          {
            name: 'pay',
            description: 'A tool for tests.',
            effect: 'read',
            risk: 'critical',
            approval: expect.any(String),
            execution_location: 'server',
            parameters: { type: 'object' },
          },
        ],
        capabilities: expect.objectContaining({ identity: expect.objectContaining({ name: 'tester' }) }),
        source: null,
        tests: 2,
        suggestions: ['What can you do?'],
        skills: [],
      },
    ])
  })

  test('shows the skills of one agent to operators alone, without what they say', async () => {
    await using doors = (await openAgents()).doors
    const shown = async (headers: Record<string, string>) =>
      ((await (await doors.get('/agents/tester', headers)).json()) as { skills: unknown }).skills
    const { name, description, bytes } = skill
    expect(await shown(asOperator)).toEqual([{ name, description, bytes, files: [{ path: 'form.md', bytes: 4 }] }])
    expect([await shown(asAda), await shown({})]).toEqual([[], []])
  })

  test('shows the file of one agent to operators alone, without what looks like a key', async () => {
    await using doors = (await openAgents()).doors
    const shown = async (headers: Record<string, string>) =>
      ((await (await doors.get('/agents/tester', headers)).json()) as { source: unknown }).source
    expect(await shown(asOperator)).toEqual({
      path: '/srv/agent.yaml',
      text: 'name: tester\napi_key: [masked]\nurl: https://[masked]@x.test # [masked]',
    })
    expect([await shown(asAda), await shown({})]).toEqual([null, null])
    expect(await refusalOf(await doors.get('/agents/nobody'))).toEqual({ status: 404, code: 'agent_not_found' })
  })
})

test.each<[string, ApprovalRule | null, ApprovalRule, Risk, boolean, string]>([
  ['the agent’s rule by risk', null, { ask: 'risk', atLeast: 'high' }, 'high', false, 'A person is asked each time.'],
  ['a lower risk', null, { ask: 'risk', atLeast: 'high' }, 'low', false, 'Runs without asking.'],
  ['its own rule', { ask: 'never' }, { ask: 'always' }, 'critical', false, 'Runs without asking.'],
  ['code that asks', { ask: 'never' }, { ask: 'always' }, 'low', true, 'The tool itself says when a person is asked.'],
  ['a policy', { ask: 'policy' }, { ask: 'never' }, 'low', false, 'The policy of the agent decides.'],
  [
    'conditions',
    { ask: 'when', any: [], otherwise: 'run' },
    { ask: 'always' },
    'low',
    false,
    'A person is asked, depending on the arguments.',
  ],
  [
    'conditions beside a stricter rule',
    { ask: 'when', any: [], otherwise: 'default' },
    { ask: 'always' },
    'low',
    false,
    'A person is asked each time.',
  ],
  [
    'conditions of the agent',
    null,
    { ask: 'when', any: [], otherwise: 'default' },
    'critical',
    false,
    'A person is asked each time.',
  ],
])('says in words when a person is asked: %s', (_, approval, rule, risk, asksItself, expected) => {
  expect(approvalWords({ approval, risk, asksItself }, { default: rule })).toBe(expected)
})

describe('POST /validate/agent', () => {
  test('answers what is wrong with the text', async () => {
    await using doors = (await openAgents()).doors
    const response = await doors.post('/validate/agent', { text: 'x' }, asOperator)
    expect([response.status, await response.json()]).toEqual([
      200,
      { ok: false, problems: [{ line: 1, column: 2, path: '', message: 'x' }] },
    ])
  })

  test('takes 256 KB and not one byte more, and is for operators', async () => {
    await using doors = (await openAgents()).doors
    const send = (text: unknown, headers = asOperator) => doors.post('/validate/agent', { text }, headers)
    expect((await send('é'.repeat(128 * 1024))).status).toBe(200)
    expect(await refusalOf(await send(`${'é'.repeat(128 * 1024)}x`))).toEqual({ status: 400, code: 'invalid_request' })
    expect(await refusalOf(await send(7))).toEqual({ status: 400, code: 'invalid_request' })
    expect(await refusalOf(await send('x', asAda))).toEqual({ status: 403, code: 'forbidden' })
  })
})

describe('the tests of an agent', () => {
  test('are listed', async () => {
    await using doors = (await openAgents()).doors
    expect(await (await doors.get('/agents/tester/tests', asOperator)).json()).toEqual({
      agent: 'tester',
      running: false,
      cases: ['greets', 'sings'].map((name) => ({
        name,
        turns: ['Hi'],
        tools: [],
        checks: ['contains'],
        timeout_seconds: 60,
        ...{ results: [], failing_since: null, findings: [] },
      })),
    })
    expect(await refusalOf(await doors.get('/agents/tester/tests', asAda))).toEqual({ status: 403, code: 'forbidden' })
  })

  test('run beside the server and tell each step', async () => {
    const { doors, opened } = await openAgents()
    await using _ = doors
    const client = createClient({ url: doors.url, token: operatorToken.token })
    const events = await collected(client.agents.runTests('tester'))

    expect(events.map((one) => (one.type === 'case' ? [one.name, one.outcome] : one.type))).toEqual([
      ['greets', 'running'],
      ['sings', 'running'],
      ['greets', 'passed'],
      ['sings', 'failed'],
      'done',
    ])
    expect(events[3]).toMatchObject({
      findings: [{ check: 'contains', expected: 'an answer with "La"', found: '"Hello."' }],
      tokens: { input: 3, output: 2 },
      answer: 'Hello.',
      calls: [],
    })
    expect(events[4]).toEqual({ type: 'done', total: 2, passed: 1, failed: 1, errors: 0, stopped: 0, duration_ms: 0 })
    expect(opened).toEqual(['open', 'closed'])
    expect(await collected(client.agents.runTests('tester', { cases: ['sings'] }))).toHaveLength(3)
    expect(await doors.store.sessions.list({ limit: 10 })).toEqual([])
    const { cases } = await client.agents.tests('tester')
    expect(cases.map((one) => [one.results.map(({ outcome }) => outcome), one.failing_since === null])).toEqual([
      [['passed'], true],
      [['failed', 'failed'], false],
    ])
    expect(cases[1]?.findings).toEqual([{ check: 'contains', expected: 'an answer with "La"', found: '"Hello."' }])
  })

  test('run once at a time, and stop when the caller leaves', async () => {
    const { doors, opened, tests } = await openAgents({ endless: true })
    await using _ = doors
    const leave = new AbortController()
    const url = `${doors.url}/agents/tester/tests/run`
    const headers = { ...asOperator, 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: '{}', signal: leave.signal })
    expect(response.status).toBe(200)
    expect(await refusalOf(await doors.post('/agents/tester/tests/run', {}, asOperator))).toEqual({
      status: 409,
      code: 'conflict',
    })
    leave.abort()
    while (tests.isRunning('tester')) await new Promise((resolve) => setImmediate(resolve))
    expect(opened).toEqual(['open', 'closed'])
  })

  test('refuse unknown cases, say why they cannot run, and are free again', async () => {
    const { doors, tests } = await openAgents({ fails: true })
    await using _ = doors
    const run = async (body: unknown, headers = asOperator) =>
      refusalOf(await doors.post('/agents/tester/tests/run', body, headers))
    expect(await run({ cases: ['nope'] })).toEqual({ status: 400, code: 'invalid_request' })
    expect(await run({ cases: [] })).toEqual({ status: 400, code: 'invalid_request' })
    expect(await run({})).toEqual({ status: 500, code: 'config_invalid' })
    expect(tests.isRunning('tester')).toBe(false)
    expect(await run({}, asAda)).toEqual({ status: 403, code: 'forbidden' })
    expect(await run({}, asOperatorElsewhere)).toEqual({ status: 403, code: 'forbidden' })
  })
})

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
