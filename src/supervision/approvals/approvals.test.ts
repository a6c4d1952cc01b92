import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { openEngine, outline, type TestEngineOptions, testTool } from '../../engine/testing/open-engine.ts'
import { verifyChain } from '../../store/audit-chain.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { ServerTool } from '../../tools/tool.ts'
import type { CallRules, Question } from './call-rules.ts'

const operator: Caller = { user: 'ada', role: 'operator' }
const owner: Caller = { user: 'local_user', role: 'user' }

/** Asks about every call of a tool whose risk is not low. */
const askingRules = (more: Partial<Question> = {}): CallRules => ({
  judge: async (call) =>
    call.tool.risk === 'low'
      ? { verdict: 'run', grant: null }
      : { verdict: 'ask', ...(await askingRules(more).question(call)) },
  question: async ({ tool, now }) => ({
    policyVersion: 'v1',
    risk: tool.risk,
    answerableBy: 'operator',
    expiresAt: now + 3_600_000,
    title: `Call ${tool.name}`,
    description: '',
    action: null,
    ...more,
  }),
  preview: async () => null,
})

const delivered: unknown[] = []
const send = (effect: ServerTool['effect'] = 'once'): ServerTool =>
  testTool({
    name: 'send',
    risk: 'high',
    effect,
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    call: async ({ arguments: args }) => {
      delivered.push(args)
      return { content: `Sent to ${String(args.to)}.`, isError: false }
    },
  })
const look = testTool({ name: 'look', call: async () => ({ content: 'Nothing there.', isError: false }) })

const sendTo = (...names: string[]) => ({
  parts: names.map((to) => ({ tool_call: { name: 'send', arguments: { to } } })),
})
const done = { parts: [{ text: 'Done.' }] }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  delivered.length = 0
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (options: TestEngineOptions = {}) =>
  openEngine({ rules: askingRules(), tools: [send(), look], answers: [sendTo('bob'), done], ...options })

async function pendingOf({ approvals }: ReturnType<typeof open>): Promise<Approval[]> {
  return (await approvals.list({ by: operator, status: 'pending', limit: 100 })).reverse()
}

const lastOf = (events: readonly RunEvent[]) => events.at(-1)

describe('a call that needs an approval', () => {
  test('suspends the run with an interrupt that shows the question', async () => {
    const server = open()
    const accepted = await server.start('go')
    const seen = await server.events(accepted)
    const [approval] = await pendingOf(server)

    expect(lastOf(seen)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [{ id: approval?.id, reason: 'tool_call', toolCallId: approval?.callId, message: 'Call send' }],
      },
    })
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('waiting')
    expect(delivered).toEqual([])
    await expect(server.start('more')).rejects.toMatchObject({ code: 'approval_pending' })
    await server.close()
  })

  test('fails with a clear result when the server of its tool is gone by then', async () => {
    /** How many more times its tools are listed. */
    let looks = Number.POSITIVE_INFINITY
    const there = new Map([['send', send()]])
    const server = open({
      toolbox: {
        ...createStaticToolbox([]),
        tools: async () => (looks-- > 0 ? there : new Map()),
        servers: () => [{ name: 'mail', trouble: looks > 0 ? null : 'It is away.', tools: ['send'] }],
      },
    })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    // The tool is there for the decision, but not for the call.
    looks = 1
    const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    const seen = outline(await server.events({ ...accepted, run }))

    expect(seen).toContain(
      'TOOL_CALL_RESULT The MCP server "mail" cannot be reached now, so its tool send was not run. ' +
        'Try again later, or go on without it.',
    )
    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual([])
    await server.close()
  })

  test('runs once when it is approved, in a continuation, and the old run is completed', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const { run, approval: decided } = await server.approvals.decide(operator, approval?.id ?? '', {
      decision: 'approve',
    })
    const seen = await server.events({ ...accepted, run })

    expect(outline(seen)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT Sent to bob.',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Done.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
    expect(decided).toMatchObject({ status: 'approved', decidedBy: 'ada' })
    expect(run.parentRunId).toBe(accepted.run.wireId)
    expect((await server.engine.runs.continuation(accepted.run))?.id).toBe(run.id)
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('completed')
    expect(await server.approvals.get(operator, approval?.id ?? '')).toMatchObject({ status: 'consumed' })
    expect(delivered).toEqual([{ to: 'bob' }])
    await server.close()
  })

  test('does not run when its run is cancelled, and its approval is void', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const hanging: ServerTool = {
      ...send(),
      call: () => {
        begin()
        return new Promise(() => {})
      },
    }
    const server = open({ tools: [hanging], answers: [sendTo('bob', 'eve'), done] })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [bob, eve] = await pendingOf(server)
    const { run } = await server.approvals.decide(operator, bob?.id ?? '', { decision: 'approve' })
    await begun
    await server.approvals.decide(operator, eve?.id ?? '', { decision: 'approve' })
    await server.engine.runs.cancel(run, 'ada')
    await server.events({ ...accepted, run })
    expect((await server.engine.runs.get('local_user', run.id)).status).toBe('cancelled')
    const now = await Promise.all([bob, eve].map((one) => server.approvals.get(operator, one?.id ?? '')))
    expect(now.map((one) => [one.status, one.decidedBy])).toEqual([
      ['consumed', 'ada'],
      ['interrupted', 'ada'],
    ])
    await expect(server.approvals.decide(operator, eve?.id ?? '', { decision: 'approve' })).rejects.toMatchObject({
      code: 'approval_decided',
      message: expect.stringContaining('so it did not run'),
    })
    const trail = (await server.store.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
    expect(trail.filter(({ kind }) => kind === 'approval_voided').map(({ call }) => call)).toEqual([eve?.callId])
    await server.close()
  })

  test('does not run when it is rejected, and the model is told why', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const decision = { decision: 'reject', reason: 'Bob has left.' } as const
    const { run } = await server.approvals.decide(operator, approval?.id ?? '', decision)
    const seen = outline(await server.events({ ...accepted, run }))

    expect(seen[1]).toContain('A person refused this call, so it was not run. Reason: Bob has left.')
    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual([])
    await server.close()
  })

  test('runs with edited arguments, and the model is told', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const id = approval?.id ?? ''
    const wrong = server.approvals.decide(operator, id, { decision: 'approve', arguments: { to: 7 } })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_request' })

    const { run } = await server.approvals.decide(operator, id, {
      decision: 'approve',
      arguments: { to: 'eve' },
    })
    const seen = outline(await server.events({ ...accepted, run }))
    expect(seen[1]).toBe(
      'TOOL_CALL_RESULT (A person changed the arguments of this call to {"to":"eve"}.)\nSent to eve.',
    )
    expect(delivered).toEqual([{ to: 'eve' }])
    await server.close()
  })

  test('is decided once, however many people answer at the same time', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        server.approvals.decide({ user: `op${i}`, role: 'operator' }, approval?.id ?? '', {
          decision: i % 2 === 0 ? 'approve' : 'reject',
        }),
      ),
    )
    const won = answers.filter((answer) => answer.status === 'fulfilled')
    expect(won).toHaveLength(1)
    const lost = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))
    expect(new Set(lost)).toEqual(new Set(['approval_decided']))
    const winner = won[0]?.value
    if (winner !== undefined) await server.events({ ...accepted, run: winner.run })
    expect(delivered).toHaveLength(
      winner?.approval.decidedBy === 'op0' || winner?.approval.status === 'approved' ? 1 : 0,
    )
    await server.close()
  })

  test('stays pending when somebody without permission answers', async () => {
    const server = open()
    await server.events(await server.start('go'))
    const [approval] = await pendingOf(server)
    const id = approval?.id ?? ''
    await expect(server.approvals.decide(owner, id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'forbidden',
    })
    const stranger: Caller = { user: 'mallory', role: 'user' }
    const foreign = server.approvals.decide(stranger, id, { decision: 'approve' })
    await expect(foreign).rejects.toMatchObject({ code: 'approval_not_found' })
    expect(await pendingOf(server)).toHaveLength(1)
    await server.close()
  })

  test('may be approved by the owner if the approval says so', async () => {
    const server = open({ rules: askingRules({ answerableBy: 'owner' }) })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const { run } = await server.approvals.decide(owner, approval?.id ?? '', { decision: 'approve' })
    await server.events({ ...accepted, run })
    expect(delivered).toEqual([{ to: 'bob' }])
    await server.close()
  })

  test('counts as rejected when nobody answers in time', async () => {
    let later = 0
    const real = createSystemClock()
    const clock = { ...real, now: () => real.now() + later, mono: () => real.mono() + later }
    const server = open({ clock, rules: askingRules({ expiresAt: clock.now() + 600_000 }) })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    later = 700_000
    const late = server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    await expect(late).rejects.toMatchObject({ code: 'approval_expired' })
    const run = await server.engine.runs.continuation(accepted.run)
    if (run === null) throw new Error('nothing went on')
    const seen = outline(await server.events({ ...accepted, run }))
    expect(seen[1]).toContain('Nobody allowed this call in time')
    expect(delivered).toEqual([])
    await server.close()
  })

  test('is interrupted when its run is cancelled', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const cancelled = await server.engine.runs.cancel(await server.engine.runs.get('local_user', accepted.run.id), 'me')
    expect(cancelled.status).toBe('cancelled')
    expect(await server.approvals.get(operator, approval?.id ?? '')).toMatchObject({ status: 'interrupted' })
    const late = server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    await expect(late).rejects.toMatchObject({ code: 'approval_decided' })
    expect(delivered).toEqual([])
    await server.close()
  })

  test('is asked again when the rules have changed between the approval and the call', async () => {
    let policyVersion = 'v1'
    // `question` still gives the old version, so nothing has changed when the person decides.
    const rules: CallRules = { ...askingRules(), judge: (call) => askingRules({ policyVersion }).judge(call) }
    const server = open({ rules })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    policyVersion = 'v2'
    const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    expect(lastOf(await server.events({ ...accepted, run }))).toMatchObject({ outcome: { type: 'interrupt' } })
    const [again] = await pendingOf(server)
    expect(again?.id).not.toBe(approval?.id)
    expect(delivered).toEqual([])
    await server.close()
  })

  test('is asked again with the edited arguments, and runs with them', async () => {
    let policyVersion = 'v1'
    let atDecision = 'v1'
    const rules: CallRules = {
      ...askingRules(),
      judge: (call) => askingRules({ policyVersion }).judge(call),
      question: (call) => askingRules({ policyVersion: atDecision }).question(call),
    }
    const server = open({ rules })
    const accepted = await server.start('go')
    await server.events(accepted)
    const [first] = await pendingOf(server)
    policyVersion = 'v2'
    const edit = { decision: 'approve', arguments: { to: 'eve' } } as const
    const one = await server.approvals.decide(operator, first?.id ?? '', edit)
    await server.events({ ...accepted, run: one.run })
    const [second] = await pendingOf(server)
    expect(second?.arguments).toBe('{"to":"eve"}')
    atDecision = 'v2'
    const two = await server.approvals.decide(operator, second?.id ?? '', { decision: 'approve' })
    expect(outline(await server.events({ ...accepted, run: two.run }))[1]).toContain('A person changed the arguments')
    expect(delivered).toEqual([{ to: 'eve' }])
    await server.close()
  })

  test('that cannot be judged leaves the text before it in the history', async () => {
    const rules: CallRules = {
      ...askingRules(),
      judge: async () => {
        throw new ServerError('storage_failed', 'The store did not answer.')
      },
    }
    const server = open({ rules, answers: [{ parts: [{ text: 'I will. ' }, ...sendTo('bob').parts] }] })
    const accepted = await server.start('go')
    expect(lastOf(await server.events(accepted))).toMatchObject({ type: 'RUN_ERROR', code: 'storage_failed' })
    const stored = await server.engine.messages.page(accepted.session.id, 10)
    expect(stored.map(({ content }) => content)).toEqual(['go', 'I will. '])
    await server.close()
  })
})

test('nobody sees a question before it is on disk', async () => {
  const disk = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const store = createSqliteStore({
    path: ':memory:',
    fatal: (error) => {
      throw error
    },
  })
  const commit: Store['commit'] = async (commands) => {
    const done = await store.commit(commands)
    if (!commands.some((command) => command.type === 'finish_run')) return done
    asked.resolve()
    return { ...done, synced: disk.promise }
  }
  const server = open({ store: { ...store, commit } })
  await server.start('go')
  await asked.promise
  let isShown = false
  const looking = pendingOf(server).then((found) => {
    isShown = true
    return found
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect([isShown, (await store.waits.list({ limit: 10 })).length]).toEqual([false, 1])
  disk.resolve()
  expect(await looking).toHaveLength(1)
  await server.close()
})

describe('several calls of one step', () => {
  test('wait side by side: each approval runs its own call, and the others go on waiting', async () => {
    const server = open({
      answers: [{ parts: [{ tool_call: { name: 'look', arguments: {} } }, ...sendTo('bob', 'eve').parts] }, done],
    })
    const accepted = await server.start('go')
    const first = outline(await server.events(accepted))
    expect(first.filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual(['TOOL_CALL_RESULT Nothing there.'])
    const [bob, eve] = await pendingOf(server)

    const one = await server.approvals.decide(operator, bob?.id ?? '', { decision: 'approve' })
    expect(lastOf(await server.events({ ...accepted, run: one.run }))).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [{ id: eve?.id }] },
    })
    expect(delivered).toEqual([{ to: 'bob' }])

    const two = await server.approvals.decide(operator, eve?.id ?? '', { decision: 'reject' })
    expect(outline(await server.events({ ...accepted, run: two.run })).at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual([{ to: 'bob' }])
    await server.close()
  })

  test('each run once when all are approved at the same time, in any order', async () => {
    const server = open({ answers: [sendTo('a', 'b', 'c', 'd', 'e'), done] })
    const accepted = await server.start('go')
    await server.events(accepted)
    const approvals = await pendingOf(server)
    const runs = await Promise.all(
      approvals.map((approval) => server.approvals.decide(operator, approval.id, { decision: 'approve' })),
    )
    for (const { run } of runs) await server.events({ ...accepted, run })
    let run = accepted.run
    for (
      let next = await server.engine.runs.continuation(run);
      next !== null;
      next = await server.engine.runs.continuation(run)
    ) {
      await server.events({ ...accepted, run: next })
      run = next
    }
    expect(delivered.map((one) => JSON.stringify(one)).sort()).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((to) => JSON.stringify({ to })),
    )
    expect(await server.engine.runs.open(accepted.session.id)).toEqual([])
    await server.close()
  })
})

describe('in the conversation', () => {
  test('a request that answers the same question twice is refused, and nothing is decided', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const waitId = approval?.id ?? ''
    const twice = server.start('', {
      session: { existing: accepted.session },
      input: { messages: [], instructions: [], context: [], clientTools: [] },
      decisions: {
        by: operator,
        answers: [
          { waitId, decision: 'approve' },
          { waitId, decision: 'reject' },
        ],
      },
    })
    await expect(twice).rejects.toMatchObject({ code: 'invalid_request' })
    expect([(await pendingOf(server)).map(({ id }) => id), delivered]).toEqual([[waitId], []])
    await server.close()
  })

  test('decisions start the run they come with; repeated, they attach to it', async () => {
    const server = open()
    const accepted = await server.start('go')
    await server.events(accepted)
    const [approval] = await pendingOf(server)
    const session = await server.engine.sessions.get('local_user', 'thread')
    const request = {
      session: { existing: session },
      input: { messages: [], instructions: [], context: [], clientTools: [] },
      decisions: { by: operator, answers: [{ waitId: approval?.id ?? '', decision: 'approve' as const }] },
    }
    const one = await server.start('', { ...request, wireRunId: 'answer-1' })
    expect(one.run.wireId).toBe('answer-1')
    await server.events(one)
    const two = await server.start('', { ...request, wireRunId: 'answer-2' })
    expect([two.existing, two.run.id]).toEqual([true, one.run.id])
    expect(delivered).toEqual([{ to: 'bob' }])
    await server.close()
  })
})

describe('a restart', () => {
  function reopen(options: TestEngineOptions = {}) {
    cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })
    return open({ path: join(folder, 'second', 'test.db'), ...options })
  }
  const first = (options: TestEngineOptions = {}) => open({ path: join(folder, 'first', 'test.db'), ...options })

  test('while a run waits loses nothing: the answer still works', async () => {
    const before = first()
    const accepted = await before.start('go')
    await before.events(accepted)
    const after = reopen({ answers: [done] })
    await after.engine.recover()
    const [approval] = await pendingOf(after)
    const { run } = await after.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual([{ to: 'bob' }])
    await after.close()
    await before.close()
  })

  test('between a call and its result does not repeat the call: the run says that the result is unknown', async () => {
    const never = new Promise<never>(() => {})
    const call = () => {
      delivered.push('begun')
      return never
    }
    const hanging = { ...send(), call }
    const before = first({ tools: [hanging, look] })
    const accepted = await before.start('go')
    await before.events(accepted)
    const [approval] = await pendingOf(before)
    const { run } = await before.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    while (delivered.length === 0) await new Promise((resolve) => setImmediate(resolve))

    const after = reopen({ answers: [done] })
    await after.engine.recover()
    expect(lastOf(await after.events({ ...accepted, run }))).toMatchObject({ type: 'RUN_ERROR', code: 'needs_review' })
    expect(delivered).toEqual(['begun'])
    await after.close()
    await before.close()
  })
})

test('every decision and every call with side effects is in the audit trail, and the chain holds', async () => {
  const server = open()
  const accepted = await server.start('go')
  await server.events(accepted)
  const [approval] = await pendingOf(server)
  const remember = { scope: 'session' as const }
  const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve', remember })
  await server.events({ ...accepted, run })
  const [grant] = await server.approvals.grants()
  await server.approvals.revokeGrant(operator, grant?.id ?? '')
  expect(await server.approvals.grants()).toEqual([])

  const entries = await server.store.audit.entries(0, 100)
  const records = entries.map(({ text }) => JSON.parse(text))
  expect(records.map(({ kind, by, tool }) => [kind, by, tool])).toEqual([
    ['approval_asked', 'tester', 'send'],
    ['decision', 'ada', 'send'],
    ['grant_made', 'ada', 'send'],
    ['call_started', 'tester', 'send'],
    ['call_finished', 'tester', 'send'],
    ['grant_revoked', 'ada', 'send'],
  ])
  expect(records[3].details.approval).toBe(approval?.id)
  expect(verifyChain(entries)).toMatchObject({ ok: true })
  await server.close()
})

test('a call whose grant is revoked while it is judged does not run, and is asked about', async () => {
  let isRevoking = false
  const revoke = async () => {
    for (const { id } of isRevoking ? await server.approvals.grants() : [])
      await server.approvals.revokeGrant(operator, id)
    return true
  }
  const tools = [{ ...send(), needsApproval: revoke }, look]
  const both = { parts: [{ tool_call: { name: 'look' } }, ...sendTo('bob').parts] }
  // Its own rules: they ask the tool after they have looked for grants.
  const server = openEngine({ tools, answers: [sendTo('bob'), done, both] })
  const accepted = await server.start('go')
  await server.events(accepted)
  const [asked] = await pendingOf(server)
  const remember = { scope: 'session' as const }
  const { run } = await server.approvals.decide(operator, asked?.id ?? '', { decision: 'approve', remember })
  await server.events({ ...accepted, run })
  expect(delivered).toEqual([{ to: 'bob' }])
  isRevoking = true

  const second = await server.start('again')
  const seen = outline(await server.events(second))

  expect(delivered).toEqual([{ to: 'bob' }])
  expect(await pendingOf(server)).toMatchObject([{ tool: 'send', runId: second.run.id }])
  expect(seen.filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual(['TOOL_CALL_RESULT Nothing there.'])
  // What the model said is stored once.
  const stored = await server.store.messages.all(second.session.id)
  expect(stored.filter(({ runId }) => runId === second.run.id).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
  ])
  await server.close()
})

test('a message that comes with a late refusal is not lost: it becomes the next run', async () => {
  const server = open({ answers: [sendTo('bob'), done, { parts: [{ text: 'Then this.' }] }] })
  const accepted = await server.start('go')
  await server.events(accepted)
  const [approval] = await pendingOf(server)
  const { run } = await server.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })

  const late = await server.start('not that, but this', {
    session: { existing: accepted.session },
    decisions: { by: operator, answers: [{ waitId: approval?.id ?? '', decision: 'reject' }] },
  })

  expect(late.run.id).not.toBe(run.id)
  expect(outline(await server.events(late))).toContain('TEXT_MESSAGE_CONTENT Then this.')
  expect(delivered).toEqual([{ to: 'bob' }])
  await server.close()
})
