import { describe, expect, test } from 'vitest'
import type { ModelAgent } from '../../domain/agent/agent.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { CallRules } from '../../supervision/approvals/call-rules.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { AgentTool, Tool } from '../../tools/tool.ts'
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

const operator: Caller = { user: 'ada', role: 'operator' }

const agentTool = (agent: string, handoff = false): AgentTool => {
  const { call: _call, ...rules } = testTool({
    name: `ask_${agent}`,
    call: async () => ({ content: '', isError: false }),
  })
  return { ...rules, location: 'agent', agent, handoff }
}

const definition = (name: string): ModelAgent => ({ ...testAgent, name, default: false, internal: true })

const tutor = (answers: Parameters<typeof scripted>[0], tools: readonly Tool[] = []) => ({
  definition: definition('tutor'),
  model: scripted(answers),
  toolbox: createStaticToolbox(tools),
})

const askTutor = { parts: [{ tool_call: { name: 'ask_tutor', arguments: { message: 'What is 2 + 2?' } } }] }

const open = (options: TestEngineOptions) =>
  openEngine({ tools: [agentTool('tutor')], answers: [askTutor, { parts: [{ text: 'It is 4.' }] }], ...options })

const askAboutHighRisk: CallRules = {
  judge: async (call) =>
    call.tool.risk === 'low'
      ? { verdict: 'run', grant: null }
      : { verdict: 'ask', ...(await askAboutHighRisk.question(call)) },
  question: async ({ tool, now }) => ({
    policyVersion: 'v1',
    risk: tool.risk,
    answerableBy: 'operator',
    expiresAt: now + 60_000,
    title: 'Call send',
    description: '',
    action: null,
  }),
  preview: async () => null,
}

const laneOf = (event: RunEvent) => ('subagentRunId' in event ? event.subagentRunId : undefined)

describe('a sub-agent that is called like a tool', () => {
  test('works in a conversation of its own, and its events carry its id', async () => {
    const server = open({ others: [tutor([{ parts: [{ text: 'Four.' }] }])] })
    const accepted = await server.start('go')
    const seen = await server.events(accepted)
    const started = seen.find((event) => event.type === 'SUBAGENT_STARTED')
    expect(started).toMatchObject({ name: 'tutor' })
    const inside = seen.filter((event) => laneOf(event) !== undefined)
    expect(outline(inside)).toEqual([
      'SUBAGENT_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Four.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'SUBAGENT_FINISHED',
    ])
    expect(new Set(inside.map(laneOf)).size).toBe(1)
    expect(outline(seen).filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual(['TOOL_CALL_RESULT Four.'])
    const stored = await server.engine.messages.page(accepted.session.id, 10)
    expect(stored.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'Four.'],
      ['assistant', 'It is 4.'],
    ])
    expect((await server.engine.sessions.get('local_user', 'thread')).messageCount).toBe(4)
    await server.close()
  })

  test('that fails is an error after which the caller can go on, with everything closed', async () => {
    const server = open({ others: [tutor([{ parts: [{ text: 'Fo' }, { error: { code: 'model_failed' } }] }])] })
    const seen = await server.events(await server.start('go'))
    expect(outline(seen).filter((line) => /SUBAGENT|RESULT|RUN_F/.test(line))).toEqual([
      'SUBAGENT_STARTED',
      'SUBAGENT_ERROR',
      expect.stringContaining('TOOL_CALL_RESULT tutor could not answer'),
      'RUN_FINISHED success',
    ])
    await server.close()
  })

  test('says what its steps used, also of one that broke off', async () => {
    const error = { code: 'model_failed' as const }
    const broken = { parts: [{ usage: { input: 5, output: 2 } }, { text: 'Fo' }, { error }] }
    const server = open({ others: [tutor([broken])] })
    const seen = await server.events(await server.start('go'))
    const model = { provider: 'scripted', model: 'script' }

    expect(seen.filter((event) => event.type === 'STEP_FINISHED' && event.subagentRunId !== undefined)).toEqual([
      {
        type: 'STEP_FINISHED',
        stepName: 'step_1',
        subagentRunId: expect.any(String),
        metadata: { quarterdeck: { usage: { ...model, inputTokens: 5, outputTokens: 2, totalTokens: 7 } } },
        timestamp: expect.any(Number),
      },
    ])
    await server.close()
  })

  test('counts against the limits of the run that called it', async () => {
    const again = { parts: [{ tool_call: { name: 'look', arguments: {} } }] }
    const look = testTool({ name: 'look', call: async () => ({ content: 'Nothing.', isError: false }) })
    const server = open({
      agent: { limits: { ...testAgent.limits, toolCalls: 3, identicalCalls: 99 } },
      others: [tutor([again], [look])],
    })
    const seen = await server.events(await server.start('go'))
    expect(seen.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'budget_exceeded' })
    await server.close()
  })

  test('uses tokens of the run that called it, which begins no further step beyond its limit', async () => {
    const requests: unknown[] = []
    const server = open({
      agent: { limits: { ...testAgent.limits, tokens: 100 } },
      onRequest: (request) => requests.push(request),
      others: [tutor([{ parts: [{ text: 'Four.' }, { usage: { input: 90, output: 20 } }] }])],
    })
    const seen = await server.events(await server.start('go'))
    expect(seen.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'budget_exceeded' })
    expect(requests).toHaveLength(1)
    await server.close()
  })

  test('is not charged for what the run had used before', async () => {
    const tutorLimits = { ...testAgent.limits, tokens: 50 }
    const server = open({
      answers: [
        { parts: [...askTutor.parts, { usage: { input: 90, output: 10 } }] },
        { parts: [{ text: 'It is 4.' }] },
      ],
      others: [
        { ...tutor([{ parts: [{ text: 'Four.' }] }]), definition: { ...definition('tutor'), limits: tutorLimits } },
      ],
    })
    const seen = outline(await server.events(await server.start('go')))
    expect(seen.filter((line) => /RESULT|RUN_F/.test(line))).toEqual(['TOOL_CALL_RESULT Four.', 'RUN_FINISHED success'])
    await server.close()
  })

  test('keeps what it had said when the run is stopped, also beside another sub-agent', async () => {
    const server = open({
      answers: [{ parts: [...askTutor.parts, ...askTutor.parts] }],
      others: [tutor([{ parts: [{ text: 'Fo' }, { hang: true }] }])],
    })
    const accepted = await server.start('go')
    const texts: RunEvent[] = []
    const target = { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 }
    for await (const batch of server.engine.runs.follow(target, new AbortController().signal)) {
      texts.push(...eventsOf(batch).filter((event) => event.type === 'TEXT_MESSAGE_CONTENT'))
      if (texts.length === 2) await server.engine.runs.cancel(accepted.run, 'me')
    }
    const said = (await server.store.messages.all(accepted.session.id)).filter(({ content }) => content === 'Fo')
    expect(said.map(({ brokenOff }) => brokenOff)).toEqual([true, true])
    expect(new Set(said.map(({ lane }) => lane)).size).toBe(2)
    await server.close()
  })

  test('that a person allowed is not asked about again when it waits for another approval', async () => {
    const ran: string[] = []
    const send = testTool({
      name: 'send',
      risk: 'high',
      effect: 'once',
      call: async () => {
        ran.push('send')
        return { content: 'Sent.', isError: false }
      },
    })
    const server = open({
      rules: askAboutHighRisk,
      tools: [{ ...agentTool('tutor'), risk: 'high' }],
      others: [
        tutor([{ parts: [{ tool_call: { name: 'send', arguments: {} } }] }, { parts: [{ text: 'Done.' }] }], [send]),
      ],
    })
    let accepted = await server.start('go')
    const asked: string[] = []
    for (;;) {
      const last = (await server.events(accepted)).at(-1)
      const [approval] = await server.approvals.list({ by: operator, status: 'pending', limit: 10 })
      if (approval === undefined) {
        expect(last).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
        break
      }
      asked.push(approval.tool)
      const { run } = await server.approvals.decide(operator, approval.id, { decision: 'approve' })
      accepted = { ...accepted, run }
    }
    expect([asked, ran]).toEqual([['ask_tutor', 'send'], ['send']])
    await server.close()
  })

  test('that needs an approval is suspended with the run, and goes on where it was', async () => {
    const sent: unknown[] = []
    const send = testTool({
      name: 'send',
      risk: 'high',
      effect: 'once',
      call: async ({ arguments: args }) => {
        sent.push(args)
        return { content: 'Sent.', isError: false }
      },
    })
    const steps = [
      { parts: [{ tool_call: { name: 'send', arguments: { to: 'bob' } } }] },
      { parts: [{ text: 'Told him.' }] },
    ]
    const server = open({ rules: askAboutHighRisk, others: [tutor(steps, [send])] })
    const accepted = await server.start('go')
    const first = await server.events(accepted)
    expect(first.find((event) => event.type === 'SUBAGENT_FINISHED')).toMatchObject({ outcome: { type: 'suspended' } })
    expect(first.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
    const [approval] = await server.approvals.list({ by: operator, limit: 10 })
    expect(approval?.agent).toBe('tutor')

    const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    const seen = outline(await server.events({ ...accepted, run }))
    expect(seen.filter((line) => /SUBAGENT|RESULT|RUN_F|CONTENT/.test(line))).toEqual([
      'SUBAGENT_STARTED',
      'TOOL_CALL_RESULT Sent.',
      'TEXT_MESSAGE_CONTENT Told him.',
      'SUBAGENT_FINISHED',
      'TOOL_CALL_RESULT Told him.',
      'TEXT_MESSAGE_CONTENT It is 4.',
      'RUN_FINISHED success',
    ])
    expect(sent).toEqual([{ to: 'bob' }])
    await server.close()
  })
})

describe('a handoff', () => {
  test('gives the conversation to the other agent, also for later messages, until it gives it back', async () => {
    const handBack = { parts: [{ tool_call: { name: 'hand_back', arguments: {} } }] }
    const server = open({
      tools: [agentTool('tutor', true)],
      answers: [askTutor, { parts: [{ text: 'Supervisor again.' }] }],
      others: [tutor([{ parts: [{ text: 'Tutor here.' }] }, { parts: [{ text: 'Still the tutor.' }] }, handBack])],
    })
    const accepted = await server.start('one')
    const first = await server.events(accepted)
    expect(first.find((event) => event.type === 'TEXT_MESSAGE_START')).toMatchObject({ name: 'tutor' })
    for (const text of ['two', 'three']) await server.events(await server.start(text))
    const stored = await server.engine.messages.page(accepted.session.id, 20)
    const said = stored.filter(({ role, content }) => role === 'assistant' && content !== '')
    expect(said.map(({ agentName, content }) => [agentName, content])).toEqual([
      ['tutor', 'Tutor here.'],
      ['tutor', 'Still the tutor.'],
      ['tester', 'Supervisor again.'],
    ])
    expect((await server.engine.sessions.get('local_user', 'thread')).activeAgent).toBe(null)
    await server.close()
  })

  test('has not happened in a branch that parts before it, also for later messages', async () => {
    const server = open({
      tools: [agentTool('tutor', true)],
      answers: [
        { parts: [{ text: 'Hello.' }] },
        askTutor,
        { parts: [{ text: 'Myself.' }] },
        { parts: [{ text: 'Me.' }] },
      ],
      others: [tutor([{ parts: [{ text: 'Tutor here.' }] }])],
    })
    const first = await server.start('one')
    const { session } = first
    await server.events(first)
    const edit = async (text: string, after?: string) => {
      const existing = await server.engine.sessions.get('local_user', 'thread')
      const input = { ...userInput(text, text), regenerateAfter: after }
      await server.events(await server.start(text, { session: { existing }, input }))
      return (await server.engine.messages.page(session.id, 20)).at(-1)
    }
    const [, hello] = await server.engine.messages.page(session.id, 20)
    expect(await edit('two')).toMatchObject({ agentName: 'tutor', content: 'Tutor here.' })
    // After the handoff, the conversation stays where it is.
    expect(await edit('three', (await server.engine.messages.page(session.id, 1))[0]?.id)).toMatchObject({
      agentName: 'tutor',
    })
    expect(await edit('two again', hello?.id)).toMatchObject({ agentName: 'tester', content: 'Myself.' })
    expect(await edit('four')).toMatchObject({ agentName: 'tester', content: 'Me.' })
    await server.close()
  })

  test('does not let the other agent answer on a route of its own', async () => {
    const server = open({ others: [tutor([])] })
    expect(() => server.engine.agents.get('tutor')).toThrow('There is no agent')
    expect(server.engine.agents.list.map(({ name }) => name)).toEqual(['tester'])
    await server.close()
  })
})
