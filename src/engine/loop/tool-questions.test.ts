import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Approval } from '../../domain/records/record.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { ModelRequest } from '../../models/model.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import { type CodeTool, codeTool, createCodeTool } from '../../tools/function/code-tool.ts'
import { createStrayErrors } from '../../tools/function/stray-errors.ts'
import type { ToolContext } from '../../tools/function/tool-context.ts'
import { openEngine, outline, scripted, type TestEngineOptions, testAgent, testTool } from '../testing/open-engine.ts'

const operator: Caller = { user: 'ada', role: 'operator' }
const call = (name: string, args: Record<string, unknown> = {}) => ({
  parts: [{ tool_call: { name, arguments: args } }],
})
const done = { parts: [{ text: 'Done.' }] }
const results = (events: readonly RunEvent[]) => outline(events).filter((line) => line.startsWith('TOOL_CALL_RESULT'))

let folder: string
/** What the tools did, in order. */
let did: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  did = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const toolOf = (tool: CodeTool) => createCodeTool(tool, createStrayErrors())

/** Orders a shirt: asks for its size, then whether it may pay. */
const order = (rules: Partial<CodeTool> = {}, change: { size?: string } = {}) =>
  toolOf({
    ...codeTool({
      name: 'order',
      description: 'Orders a shirt.',
      parameters: z.object({ shop: z.string() }),
      approval: 'never',
      async run({ shop }, context: ToolContext) {
        did.push(`looked at ${shop}`)
        const { size } = await context.ask({
          message: change.size ?? 'Which size?',
          schema: z.object({ size: z.enum(['S', 'L']).transform((text) => text.toLowerCase()) }),
        })
        did.push(`took size ${size}`)
        const note = await context.ask({ message: 'A note for the shop?' })
        did.push(`ordered ${size}: ${note}`)
        return `Ordered ${size}.`
      },
    }),
    binding: 'order',
    ...rules,
  })

const open = (options: TestEngineOptions = {}) =>
  openEngine({ tools: [order()], answers: [call('order', { shop: 'ulm' }), done], ...options })

type Server = ReturnType<typeof openEngine>

async function pendingOf({ approvals }: Server): Promise<Approval[]> {
  return approvals.list({ by: operator, status: 'pending', limit: 100 })
}

async function onlyPending(server: Server): Promise<Approval> {
  const [one, ...others] = await pendingOf(server)
  if (one === undefined || others.length > 0) throw new Error(`${others.length + (one ? 1 : 0)} wait`)
  return one
}

/** Answers what waits, and returns the events of the run that went on. */
async function respond(server: Server, result: unknown): Promise<RunEvent[]> {
  const { id, sessionId } = await onlyPending(server)
  const { run } = await server.approvals.decide(operator, id, { decision: 'respond', result })
  const session = await server.store.sessions.get(sessionId)
  if (session === null) throw new Error('no session')
  return server.events({ run, session, existing: false })
}

async function auditOf({ store }: Server): Promise<string[]> {
  const entries = await store.audit.entries(0, 100)
  return entries
    .map(({ text }) => JSON.parse(text))
    .map(({ kind, details }) => `${kind} ${details.decision ?? ''}`.trim())
}

/** How the calls of the trail ended. */
async function endsOf({ store }: Server): Promise<string[]> {
  const entries = (await store.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
  return entries.flatMap(({ kind, tool, details }) => (kind === 'call_finished' ? [`${tool} ${details.status}`] : []))
}

describe('a tool that asks a person', () => {
  test('suspends the run, and goes on from its start with the answers so far', async () => {
    const server = open()
    const accepted = await server.start('go')
    const first = await server.events(accepted)
    const asked = await onlyPending(server)
    expect(asked).toMatchObject({
      kind: 'question',
      title: 'order asks a question',
      description: 'Which size?\nAnswer with these fields:\n  size (required): one of "S", "L"',
      question: { index: 0, message: 'Which size?', schema: { type: 'object', required: ['size'] } },
    })
    expect(first.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [{ id: asked.id, reason: 'input_required', responseSchema: asked.question?.schema }],
      },
    })
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('waiting')
    expect(did).toEqual(['looked at ulm'])

    const second = await respond(server, { size: 'L' })
    expect(second.at(-1)).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ reason: 'input_required' }] } })
    expect(did.slice(1)).toEqual(['looked at ulm', 'took size l'])

    const third = await respond(server, 'Wrap it.')
    expect(results(third)).toEqual(['TOOL_CALL_RESULT Ordered l.'])
    expect(did.slice(3)).toEqual(['looked at ulm', 'took size l', 'ordered l: Wrap it.'])
    expect(await auditOf(server)).toEqual([
      'call_started',
      'approval_asked',
      'decision answered',
      'call_resumed',
      'approval_asked',
      'decision answered',
      'call_resumed',
      'call_finished',
    ])
    await server.close()
  })

  test('keeps the approval that its call was given, and the arguments that the person edited', async () => {
    const server = open({ tools: [order({ approval: 'always' })] })
    await server.events(await server.start('go'))
    const approval = await onlyPending(server)
    const { run } = await server.approvals.decide(operator, approval.id, {
      decision: 'approve',
      arguments: { shop: 'bonn' },
    })
    const session = await server.store.sessions.get(approval.sessionId)
    if (session === null) throw new Error('no session')
    await server.events({ run, session, existing: false })
    await respond(server, { size: 'S' })
    const events = await respond(server, 'None.')

    expect(results(events)).toEqual([
      'TOOL_CALL_RESULT (A person changed the arguments of this call to {"shop":"bonn"}.)\nOrdered s.',
    ])
    expect(new Set(did.filter((line) => line.startsWith('looked')))).toEqual(new Set(['looked at bonn']))
    expect((await auditOf(server)).filter((line) => line.startsWith('call_'))).toEqual([
      'call_started',
      'call_resumed',
      'call_resumed',
      'call_finished',
    ])
    await server.close()
  })

  test('refuses an answer of the wrong shape and still waits', async () => {
    const server = open()
    await server.events(await server.start('go'))
    const { id } = await onlyPending(server)
    for (const decision of [
      { decision: 'respond' as const, result: { size: 'XXL' } },
      { decision: 'respond' as const, result: 'L' },
      { decision: 'respond' as const },
      { decision: 'approve' as const },
      { decision: 'reject' as const, remember: { scope: 'session' as const } },
    ]) {
      await expect(server.approvals.decide(operator, id, decision)).rejects.toMatchObject({ code: 'invalid_request' })
    }
    await expect(
      server.approvals.decide(operator, id, { decision: 'respond', result: { size: 'L' }, digest: 'other' }),
    ).rejects.toMatchObject({ code: 'approval_changed' })
    expect((await onlyPending(server)).id).toBe(id)
    await server.close()
  })

  test('takes the first of two answers that come together', async () => {
    const server = open()
    await server.events(await server.start('go'))
    const { id } = await onlyPending(server)
    const both = await Promise.allSettled(
      ['S', 'L'].map((size) => server.approvals.decide(operator, id, { decision: 'respond', result: { size } })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = both.find((one) => one.status === 'rejected')
    expect(lost?.reason).toMatchObject({ code: 'approval_decided' })
    await server.close()
  })

  test('tells the model when the person refuses or nobody answers in time', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const { id } = await onlyPending(server)
    const { run } = await server.approvals.decide(operator, id, { decision: 'reject', reason: 'No shirts.' })
    expect(results(await server.events({ ...accepted, run }))).toEqual([
      'TOOL_CALL_RESULT A person refused to answer the question of this tool. Reason: No shirts.',
    ])

    await server.events(await server.start('again', { session: { create: { alias: 'late' } } }))
    const late = await onlyPending(server)
    await server.engine.waits.expire(late)
    const [next] = await server.engine.runs.list(late.sessionId, 1)
    const session = await server.store.sessions.get(late.sessionId)
    const continued = next === undefined ? null : await server.store.runs.get(next.id)
    if (continued === null || session === null) throw new Error('nothing went on')
    expect(results(await server.events({ run: continued, session, existing: false }))).toEqual([
      'TOOL_CALL_RESULT Nobody answered the question of this tool in time.',
    ])
    await server.close()
  })

  test('can catch the refusal and go on', async () => {
    const brave = toolOf(
      codeTool({
        name: 'order',
        description: 'Orders a shirt.',
        parameters: z.object({}),
        approval: 'never',
        async run(_args, context) {
          try {
            return await context.ask({ message: 'Which size?' })
          } catch (error) {
            return `${Object(error).name} ${Object(error).outcome}`
          }
        },
      }),
    )
    const server = open({ tools: [brave], answers: [call('order'), done] })
    const accepted = await server.start('go')
    await server.events(accepted)
    const { id } = await onlyPending(server)
    const { run } = await server.approvals.decide(operator, id, { decision: 'reject' })
    expect(results(await server.events({ ...accepted, run }))).toEqual(['TOOL_CALL_RESULT AskError rejected'])
    await server.close()
  })

  test('ends with its run when that is cancelled', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const { id } = await onlyPending(server)
    await server.engine.runs.cancel(await server.engine.runs.get('local_user', accepted.run.id), 'ada')
    await expect(
      server.approvals.decide(operator, id, { decision: 'respond', result: { size: 'L' } }),
    ).rejects.toMatchObject({ code: 'approval_decided' })
    expect((await server.approvals.get(operator, id)).status).toBe('interrupted')
    expect(did).toEqual(['looked at ulm'])
    expect(await auditOf(server)).toEqual(['call_started', 'approval_asked', 'call_finished'])
    expect(await endsOf(server)).toEqual(['order suspended'])
    await server.close()
  })

  test('leaves no end in the trail when it only reads, because its start is not there', async () => {
    const server = open({ tools: [order({ effect: 'read' })] })
    const accepted = await server.start('go')
    await server.events(accepted)
    await server.engine.runs.cancel(await server.engine.runs.get('local_user', accepted.run.id), 'ada')
    expect(await auditOf(server)).toEqual(['approval_asked'])
    await server.close()
  })

  test('is not made or approved again when another call of its answer is decided while it asks', async () => {
    const { promise: decided, resolve: go } = Promise.withResolvers<void>()
    const send = testTool({
      name: 'send',
      effect: 'once',
      approval: { ask: 'always' },
      call: async () => ({ content: 'Sent.', isError: false }),
    })
    const slow = toolOf({
      ...codeTool({
        name: 'order',
        description: 'Orders a shirt.',
        parameters: z.object({}),
        approval: 'always',
        async run(_args, context) {
          did.push('began')
          await decided
          return context.ask({ message: 'Which size?' })
        },
      }),
      binding: 'order',
    })
    const both = { parts: ['order', 'send'].map((name) => ({ tool_call: { name, arguments: {} } })) }
    const server = open({ tools: [slow, send], answers: [both, done] })
    const accepted = await server.start('go')
    await server.events(accepted)
    const asked = await pendingOf(server)
    const idOf = (tool: string) => asked.find((one) => one.tool === tool)?.id ?? ''
    const { run } = await server.approvals.decide(operator, idOf('order'), { decision: 'approve' })
    while (did.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await server.approvals.decide(operator, idOf('send'), { decision: 'approve' })
    go()
    expect(results(await server.events({ ...accepted, run }))).toEqual(['TOOL_CALL_RESULT Sent.'])
    const question = await onlyPending(server)
    expect([question.kind, question.tool, did]).toEqual(['question', 'order', ['began']])
    expect(results(await respond(server, 'L'))).toEqual(['TOOL_CALL_RESULT L'])
    await server.close()
  })

  test('still waits after the server was killed, and the answer works there', async () => {
    const path = join(folder, 'a.db')
    const server = open({ path })
    await server.events(await server.start('go'))
    const { id } = await onlyPending(server)
    const copy = join(folder, 'copy.db')
    for (const end of ['', '-wal', '-shm']) cpSync(`${path}${end}`, `${copy}${end}`)
    await server.close()

    const again = open({ path: copy, answers: [done] })
    await again.engine.recover()
    await again.approvals.review()
    expect((await onlyPending(again)).id).toBe(id)
    await respond(again, { size: 'S' })
    expect(results(await respond(again, 'Thanks.'))).toEqual(['TOOL_CALL_RESULT Ordered s.'])
    await again.close()
  })

  test('is not continued when it asks something else than before', async () => {
    const server = open({ path: join(folder, 'a.db') })
    await server.events(await server.start('go'))
    await server.close()
    // The code has changed, and the author did not change the binding.
    const changed = open({ path: join(folder, 'a.db'), tools: [order({}, { size: 'How large?' })] })
    expect(results(await respond(changed, { size: 'L' }))).toEqual([
      'TOOL_CALL_RESULT The tool asked something else than before at its question 1, so the answer does not fit and the call was ended. What it did before it asked stays done.',
    ])
    await changed.close()
  })

  test('asks for a new approval when its code has changed meanwhile', async () => {
    const path = join(folder, 'a.db')
    const server = open({ path, tools: [order({ approval: 'always' })] })
    const accepted = await server.start('go')
    await server.events(accepted)
    const approval = await onlyPending(server)
    const { run } = await server.approvals.decide(operator, approval.id, { decision: 'approve' })
    await server.events({ ...accepted, run })
    await server.close()

    const changed = open({ path, tools: [order({ approval: 'always', binding: 'order 2' })] })
    await respond(changed, { size: 'L' })
    const again = await onlyPending(changed)
    expect([again.kind, again.tool]).toEqual(['tool_call', 'order'])
    const { run: next } = await changed.approvals.decide(operator, again.id, { decision: 'approve' })
    await changed.events({ ...accepted, run: next })
    expect((await onlyPending(changed)).question?.index).toBe(1)
    await changed.close()
  })

  test('asks again from the start after the server died beside a suspended call, also with effect once', async () => {
    const path = join(folder, 'a.db')
    let isDying = () => {}
    const dying = new Promise<void>((resolve) => {
      isDying = resolve
    })
    let copy = ''
    const slow = testTool({
      name: 'slow',
      effect: 'read',
      async call() {
        await dying
        return { content: 'Late.', isError: false }
      },
    })
    const both = {
      parts: [
        { tool_call: { name: 'order', arguments: { shop: 'ulm' } } },
        { tool_call: { name: 'slow', arguments: {} } },
      ],
    }
    const server = open({ path, tools: [order(), slow], answers: [both, done] })
    const { session, run } = await server.start('go')
    const isSuspended = async () =>
      (await server.store.entries(session.id, 0, 100)).some(({ data }) => data.includes('tool_suspended'))
    while (!(await isSuspended())) await new Promise((resolve) => setImmediate(resolve))
    // What is on disk now is what a process that is killed here leaves behind.
    copy = join(folder, 'copy.db')
    for (const end of ['', '-wal', '-shm']) cpSync(`${path}${end}`, `${copy}${end}`)
    isDying()
    await server.close()

    did = []
    const again = open({ path: copy, tools: [order(), slow], answers: [done] })
    await again.engine.recover()
    await again.events({ session, run, existing: true })
    expect(did).toEqual(['looked at ulm'])
    expect((await onlyPending(again)).question?.message).toBe('Which size?')
    await respond(again, { size: 'S' })
    expect(results(await respond(again, 'Thanks.'))).toContain('TOOL_CALL_RESULT Ordered s.')
    await again.close()
  })

  test('of a sub-agent suspends the whole run, and its answer goes back to the sub-agent', async () => {
    const clerk = {
      definition: { ...testAgent, name: 'clerk', default: false, internal: true },
      model: scripted([call('order', { shop: 'ulm' }), { parts: [{ text: 'Your shirt comes.' }] }]),
      toolbox: createStaticToolbox([order()]),
    }
    const { call: _call, ...rules } = testTool({
      name: 'ask_clerk',
      call: async () => ({ content: '', isError: false }),
    })
    const server = openEngine({
      tools: [{ ...rules, location: 'agent', agent: 'clerk', handoff: false }],
      answers: [call('ask_clerk', { message: 'A shirt.' }), done],
      others: [clerk],
    })
    await server.events(await server.start('go'))
    await respond(server, { size: 'S' })
    expect(results(await respond(server, 'Thanks.'))).toEqual([
      'TOOL_CALL_RESULT Ordered s.',
      'TOOL_CALL_RESULT Your shirt comes.',
    ])
    await server.close()
  })
})

describe('a tool that cannot be suspended', () => {
  /** Holds its question, as a call of an MCP server does. */
  const holding = (effect: 'read' | 'once' = 'once', seen: (signal: AbortSignal) => void = () => {}) =>
    testTool({
      name: 'order',
      effect,
      timeoutMs: 50,
      async call({ hold }, signal) {
        seen(signal)
        did.push('asked')
        const answer = await hold({ message: 'Which size?', schema: { type: 'string' } }, signal)
        return { content: JSON.stringify(answer), isError: false }
      },
    })
  const pendingSoon = async (server: Server): Promise<Approval> => {
    for (;;) {
      const [one] = await pendingOf(server)
      if (one !== undefined) return one
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test('waits for the answer while its run goes on, and its time stands still', async () => {
    const server = open({ tools: [holding()] })
    const accepted = await server.start('go')
    const asked = await pendingSoon(server)
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('running')
    const { approval, run } = await server.approvals.decide(operator, asked.id, { decision: 'respond', result: 'L' })
    expect([approval.status, run.id]).toEqual(['answered', accepted.run.id])
    const events = await server.events(accepted)
    expect(results(events)).toEqual(['TOOL_CALL_RESULT {"type":"answered","value":"L"}'])
    expect(events.flatMap((event) => (event.type === 'ACTIVITY_SNAPSHOT' ? [event.content.status] : []))).toEqual([
      'pending',
      'answered',
    ])
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('loses its question when its run is stopped', async () => {
    const server = open({ tools: [holding()] })
    const accepted = await server.start('go')
    const { id } = await pendingSoon(server)
    await server.engine.runs.cancel(accepted.run, 'ada')
    await server.events(accepted)
    expect((await server.approvals.get(operator, id)).status).toBe('interrupted')
    await expect(server.approvals.decide(operator, id, { decision: 'respond', result: 'L' })).rejects.toMatchObject({
      code: 'approval_decided',
    })
    expect(await endsOf(server)).toEqual(['order stopped'])
    await server.close()
  })

  test.each([
    ['read', 'asks again', 2],
    ['once', 'is not made again', 1],
  ] as const)('whose process dies loses its question; with effect %s it %s', async (effect, _what, count) => {
    const path = join(folder, 'a.db')
    const server = open({ path, tools: [holding(effect)] })
    const accepted = await server.start('go')
    const { id } = await pendingSoon(server)
    const copy = join(folder, 'copy.db')
    for (const end of ['', '-wal', '-shm']) cpSync(`${path}${end}`, `${copy}${end}`)
    await server.engine.runs.cancel(accepted.run, 'ada')
    await server.close()

    const again = open({ path: copy, tools: [holding(effect)], answers: [done] })
    await again.engine.recover()
    if (effect === 'read') {
      const next = await pendingSoon(again)
      expect(next.id).not.toBe(id)
      await again.approvals.decide(operator, next.id, { decision: 'reject' })
    }
    const events = await again.events(accepted)
    expect(events.at(-1)).toMatchObject(
      effect === 'read' ? { type: 'RUN_FINISHED' } : { type: 'RUN_ERROR', code: 'needs_review' },
    )
    expect((await again.approvals.get(operator, id)).status).toBe('interrupted')
    expect(did).toHaveLength(count)
    await again.close()
  })
})

describe('a person who answers in the place of a tool', () => {
  test('gives the model a result that is marked as theirs, and the tool does not run', async () => {
    const requests: ModelRequest[] = []
    const server = open({
      tools: [order({ approval: 'always' })],
      onRequest: (request) => requests.push(request),
    })
    await server.events(await server.start('go'))
    const { id } = await onlyPending(server)
    const events = await respond(server, 'It is ordered already.')

    expect(did).toEqual([])
    const text = '(This tool did not run. A person answered in its place:)\nIt is ordered already.'
    expect(results(events)).toEqual([`TOOL_CALL_RESULT ${text}`])
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      metadata: { quarterdeck: { status: 'success', answeredBy: 'person' } },
    })
    expect(requests.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: text })
    expect(await server.approvals.get(operator, id)).toMatchObject({
      status: 'answered',
      response: 'It is ordered already.',
      decidedBy: 'ada',
    })
    expect(await auditOf(server)).toEqual(['approval_asked', 'decision answered'])
    await server.close()
  })

  test('may refuse calls like it from now on', async () => {
    const server = open({
      tools: [order({ approval: 'always' })],
      answers: [call('order', { shop: 'ulm' }), call('order', { shop: 'ulm' }), call('order', { shop: 'bonn' }), done],
    })
    const accepted = await server.start('go')
    await server.events(accepted)
    const { id } = await onlyPending(server)
    const { run } = await server.approvals.decide(operator, id, {
      decision: 'reject',
      reason: 'Not there.',
      remember: { scope: 'session' },
    })
    const events = await server.events({ ...accepted, run })
    expect(results(events)).toEqual([
      'TOOL_CALL_RESULT A person refused this call, so it was not run. Reason: Not there. Do not send it again unless you are asked to.',
      'TOOL_CALL_RESULT This call is not allowed: a person refused calls like this one in advance. Do not send it again unless you are asked to.',
    ])
    expect((await onlyPending(server)).arguments).toBe('{"shop":"bonn"}')
    const [grant] = await server.approvals.grants()
    expect(grant).toMatchObject({ effect: 'refuse', tool: 'order', grantedBy: 'ada', approvalId: id })
    await server.approvals.revokeGrant(operator, grant?.id ?? '')
    expect(await server.approvals.grants()).toEqual([])
    await server.close()
  })
})
