// The referee is the model: each step is built again from the log and compared with what the model really got.

import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import type { ModelRequest } from '../../models/model.ts'
import { withAside } from '../../models/model.ts'
import { scriptedModel } from '../../models/testing/scripted-model.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { AgentTool } from '../../tools/tool.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import { openEngine, type TestEngineOptions, testAgent, testTool, userInput } from '../testing/open-engine.ts'

const look = testTool({ name: 'look', call: async () => ({ content: 'A ship.', isError: false }) })
const said = (text: string) => ({ parts: [{ text }] })

/** An engine that notes what its models got, in the order of the calls. */
function open(options: TestEngineOptions) {
  const sent: ModelRequest[] = []
  const onRequest = (request: ModelRequest) => void sent.push(request)
  const server = openEngine({ ...options, onRequest })

  /** All steps of the session as they are built again. */
  async function steps({ session: { id } }: AcceptedRun) {
    const session = await server.store.sessions.get(id)
    if (session === null) throw new Error('no session')
    const entries = await server.store.entries(id, 0, 10_000, 10_000_000)
    const begun = entries.filter(({ data }) => data.startsWith('{"type":"STEP_STARTED"'))
    return Promise.all(begun.map(({ seq }) => server.engine.sessions.readStep(session, seq)))
  }
  return { ...server, sent, onRequest, steps }
}

const plain = ({ system, tools, responseFormat, ...request }: ModelRequest) =>
  JSON.parse(JSON.stringify({ system, messages: withAside(request as ModelRequest), tools, responseFormat }))

const rebuilt = (all: Awaited<ReturnType<ReturnType<typeof open>['steps']>>) =>
  all.map(({ request }) => {
    if (request === null) return null
    const { system, messages, tools, responseFormat } = request
    return JSON.parse(JSON.stringify({ system, messages, tools, responseFormat }))
  })

test('each step of several turns is what the model got, with what the caller brought to each run', async () => {
  const call = { parts: [{ reasoning: 'Hm.' }, { tool_call: { name: 'look', arguments: {} } }] }
  const server = open({ tools: [look], answers: [call, said('I see a ship.'), said('Red.')] })
  const first = await server.start('What is there?')
  await server.events(first)
  const second = await server.start('Which colour?', {
    session: { existing: first.session },
    input: {
      ...userInput('m2', 'Which colour?'),
      instructions: ['Answer in one word.'],
      context: [{ description: 'page', value: 'harbour' }],
      clientTools: [{ name: 'paint', description: 'Paints.', parameters: { type: 'object' } }],
      clientAnswers: 'next_request',
    },
  })
  await server.events(second)
  const steps = await server.steps(second)

  expect(server.sent).toHaveLength(3)
  expect(rebuilt(steps)).toEqual(server.sent.map(plain))
  expect(steps.map(({ step, runId, unknown }) => [step, runId, unknown])).toEqual([
    ['step_1', first.run.id, []],
    ['step_2', first.run.id, []],
    ['step_1', second.run.id, []],
  ])
  // Two runs with the same agent name one version, and what a caller brought is not in it.
  expect(steps[0]?.version).toEqual(steps[2]?.version)
  expect(steps[2]?.version?.tools.map(({ name }) => name)).toEqual(['look'])
  await server.close()
})

test('a conversation that does not fit is cut as it was cut then', async () => {
  const answers = [{ parts: [{ text: 'x'.repeat(900) }, { usage: { input: 2_000, output: 300 } }] }]
  const server = open({ agent: { model: { ...testAgent.model, contextWindow: 2_400 } }, answers })
  let turn = await server.start('y'.repeat(400))
  await server.events(turn)
  for (let i = 0; i < 8; i += 1) {
    turn = await server.start(`${i} ${'y'.repeat(400)}`, { session: { existing: turn.session } })
    await server.events(turn)
  }

  expect(server.sent.at(-1)?.messages.length).toBeLessThan(9)
  expect(rebuilt(await server.steps(turn))).toEqual(server.sent.map(plain))
  await server.close()
})

test('the steps of a sub-agent, and of a branch that was left, are what they were', async () => {
  const { call: _call, ...rules } = testTool({ name: 'ask_tutor', call: async () => ({ content: '', isError: false }) })
  const ask: AgentTool = { ...rules, location: 'agent', agent: 'tutor', handoff: false }
  const asks = { parts: [{ tool_call: { name: 'ask_tutor', arguments: { message: 'What is 2 + 2?' } } }] }
  const sent: ModelRequest[] = []
  const tutor = scriptedModel({
    answers: [{ parts: [{ tool_call: { name: 'look', arguments: {} } }] }, said('Four.')],
    loop: true,
    onRequest: (request) => void sent.push(request),
  })
  const definition = { ...testAgent, name: 'tutor', default: false, internal: true, instructions: 'You teach.' }
  const others = [{ definition, model: tutor, toolbox: createStaticToolbox([look]) }]
  const server = open({ tools: [ask], others, answers: [asks, said('It is 4.'), said('Another.'), said('Four!')] })
  const first = await server.start('Sum?', { input: userInput('m1', 'Sum?') })
  await server.events(first)
  const more = await server.start('Sure?', { session: { existing: first.session } })
  await server.events(more)
  const again = await server.start('', {
    session: { existing: first.session },
    input: { ...userInput('', ''), messages: [], regenerateAfter: 'm1' },
  })
  await server.events(again)
  const steps = await server.steps(again)
  const own = (name: string) => rebuilt(steps.filter(({ version }) => version?.name === name))

  expect(steps).toHaveLength(6)
  expect(own('tester')).toEqual(server.sent.map(plain))
  expect(own('tutor')).toEqual(sent.map(plain))
  await server.close()
})

test('a step that failed without a word is shown too, and a server that never kept the version says so', async () => {
  const clock = createSystemClock()
  const failing = [{ parts: [{ error: { code: 'model_bad_request' as const } }] }]
  const server = open({ answers: failing, clock })
  const run = await server.start('Hello?')
  await server.events(run)
  expect(rebuilt(await server.steps(run))).toEqual(server.sent.map(plain))

  // Another process with empty records on the same store.
  const other = open({ store: server.store, shared: createLocalShared(clock), clock })
  const [step] = await other.steps(run)
  expect(step).toMatchObject({
    version: null,
    request: null,
    unknown: ['The instructions and tools that the agent had then are not kept here.'],
  })
  const session = await server.store.sessions.get(run.session.id)
  if (session === null) throw new Error('no session')
  await expect(server.engine.sessions.readStep(session, 1)).rejects.toMatchObject({ code: 'record_not_found' })
  await server.close()
})

test('a note of the server for one step alone is told as not kept', async () => {
  const responseFormat = { type: 'object', required: ['n'] }
  const server = open({ agent: { responseFormat }, answers: [said('no JSON'), said('{"n": 1}')] })
  const run = await server.start('A number?')
  await server.events(run)

  expect((await server.steps(run)).map(({ unknown }) => unknown.length)).toEqual([0, 1])
  await server.close()
})
