import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Logger, silentLogger } from '../../domain/logger.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { openEngine, outline, type TestEngineOptions, testTool } from '../../engine/testing/open-engine.ts'
import type { ServerTool } from '../../tools/tool.ts'
import type { CallRules } from './call-rules.ts'

const ada: Caller = { user: 'ada', role: 'operator' }

/** Asks about every call. An approval is bound to the tool's binding alone. */
const rules: CallRules = {
  judge: async (call) => ({ verdict: 'ask', ...(await rules.question(call)) }),
  question: async ({ tool, now }) => ({
    policyVersion: `rules-${tool.binding}`,
    risk: tool.risk,
    answerableBy: 'operator',
    expiresAt: now + 3_600_000,
    title: `Call ${tool.name}`,
    description: tool.description,
    action: null,
  }),
  preview: async () => null,
}

let folder: string
let delivered: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  delivered = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const send = (binding: string, more: Partial<ServerTool> = {}): ServerTool =>
  testTool({
    name: 'send',
    effect: 'once',
    risk: 'high',
    description: `Sends as ${binding}.`,
    binding,
    call: async ({ arguments: { to } }) => {
      delivered.push(`${binding} ${String(to)}`)
      return { content: 'Sent.', isError: false }
    },
    ...more,
  })

const sendTo = (...names: string[]) => ({
  parts: names.map((to) => ({ tool_call: { name: 'send', arguments: { to } } })),
})
const done = { parts: [{ text: 'Done.' }] }

const open = (tools: readonly ServerTool[], more: TestEngineOptions = {}) =>
  openEngine({
    path: join(folder, 'first', 'test.db'),
    rules,
    answers: [sendTo('bob'), done],
    tools,
    ...more,
  })

/** The server after a kill -9, with other tools. The first server keeps running on its own files. */
function reopen(tools: readonly ServerTool[], more: TestEngineOptions = {}) {
  cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })
  return open(tools, { path: join(folder, 'second', 'test.db'), answers: [done], ...more })
}

type Server = ReturnType<typeof open>

const pendingOf = async ({ approvals }: Server): Promise<Approval[]> =>
  (await approvals.list({ by: ada, status: 'pending', limit: 100 })).reverse()

/** A server whose agent has asked, and the ids of its questions. */
async function asked(tools: readonly ServerTool[], more: TestEngineOptions = {}) {
  const server = open(tools, more)
  const accepted = await server.start('go')
  await server.events(accepted)
  return { server, accepted, ids: (await pendingOf(server)).map(({ id }) => id) }
}

const refusalOf = (answer: Promise<unknown>) =>
  answer.then(
    () => null,
    (error: { code: string; details: Record<string, unknown> }) => [error.code, error.details.approval_id],
  )

const yes = { decision: 'approve' } as const
const no = { decision: 'reject' } as const

function listening(lines: [string, unknown][]): Logger {
  const hear = (message: string, facts: unknown) => void lines.push([message, facts])
  return { ...silentLogger, info: hear, warn: hear, with: () => listening(lines) }
}

test('a tool whose schema has a pattern of another language can be approved', async () => {
  const foreign = { type: 'object', properties: { to: { type: 'string', pattern: '(?i)^bob$' } } }
  const { server, accepted, ids } = await asked([send('a', { parameters: foreign })])
  const { run } = await server.approvals.decide(ada, ids[0] ?? '', yes)
  await server.events({ ...accepted, run })
  expect(delivered).toEqual(['a bob'])
  await server.close()
})

describe('a decision about a tool that has changed', () => {
  test.each([yes, no])(
    'is refused ($decision) with the question that takes its place, which then counts',
    async (said) => {
      const { server: before, accepted, ids } = await asked([send('a')])
      const after = reopen([send('b')])
      const [old = ''] = ids

      const refused = await refusalOf(after.approvals.decide(ada, old, said))

      const [next] = await pendingOf(after)
      expect(refused).toEqual(['approval_changed', next?.id])
      expect(next).toMatchObject({ description: 'Sends as b.', policyVersion: 'rules-b', runId: accepted.run.id })
      expect(await after.approvals.get(ada, old)).toMatchObject({
        status: 'interrupted',
        decidedBy: 'change',
        reason: `Its tool or the rules have changed. It is asked again as ${next?.id}.`,
      })
      expect(delivered).toEqual([])

      const { run } = await after.approvals.decide(ada, next?.id ?? '', { ...yes, digest: next?.digest ?? '' })
      expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
      expect(delivered).toEqual(['b bob'])
      expect(await refusalOf(after.approvals.decide(ada, old, yes))).toEqual(['approval_decided', next?.id])
      const kinds = (await after.store.audit.entries(0, 100))
        .map(({ text }) => JSON.parse(text))
        .map(({ kind, by }) => [kind, by])
      expect(kinds.slice(0, 4)).toEqual([
        ['approval_asked', 'tester'],
        ['decision', 'change'],
        ['approval_asked', 'tester'],
        ['decision', 'ada'],
      ])
      await after.close()
      await before.close()
    },
  )

  test('is refused with the same new question to everyone who answers at once', async () => {
    const { server: before, ids } = await asked([send('a')])
    const after = reopen([send('b')])

    const answers = Array.from({ length: 20 }, () => refusalOf(after.approvals.decide(ada, ids[0] ?? '', yes)))
    const refused = await Promise.all(answers)

    const [next, ...more] = await pendingOf(after)
    expect(more).toEqual([])
    expect(refused).toEqual(refused.map(() => ['approval_changed', next?.id]))
    await after.close()
    await before.close()
  })

  test('is refused for lack of permission before anything is asked again', async () => {
    const { server: before, ids } = await asked([send('a')])
    const after = reopen([send('b')])

    const stranger = after.approvals.decide({ user: 'local_user', role: 'user' }, ids[0] ?? '', yes)

    expect(await refusalOf(stranger)).toEqual(['forbidden', ids[0]])
    expect((await pendingOf(after)).map(({ id }) => id)).toEqual(ids)
    await after.close()
    await before.close()
  })

  test('is refused before a run starts, and every changed question is asked again', async () => {
    const { server: before, ids } = await asked([send('a')], { answers: [sendTo('bob', 'eve'), done] })
    const after = reopen([send('b')])
    const session = await after.engine.sessions.get('local_user', 'thread')
    const answer = (waitIds: readonly string[]) =>
      after.start('', {
        session: { existing: session },
        input: { messages: [], instructions: [], context: [], clientTools: [] },
        decisions: { by: ada, answers: waitIds.map((waitId) => ({ waitId, ...yes })) },
      })

    const refused = await refusalOf(answer(ids))

    const next = (await pendingOf(after)).map(({ id }) => id)
    expect(refused).toEqual(['approval_changed', next[0]])
    expect(next).toHaveLength(2)
    expect(next.filter((id) => ids.includes(id))).toEqual([])
    expect(await refusalOf(answer(ids.slice(0, 1)))).toEqual(['approval_changed', next[0]])
    expect(await after.engine.runs.open(session.id)).toMatchObject([{ status: 'waiting' }])

    const going = await answer(next)
    await after.events(going)
    expect(delivered.sort()).toEqual(['b bob', 'b eve'])
    // A client that repeats the first answer is shown what came of the question.
    const repeated = await answer(ids)
    expect([repeated.existing, repeated.run.id]).toEqual([true, going.run.id])
    await after.close()
    await before.close()
  })

  test('or is not available can only be a rejection', async () => {
    const { server: before, accepted, ids } = await asked([send('a')])
    const after = reopen([])
    const [id = ''] = ids

    expect(await refusalOf(after.approvals.decide(ada, id, yes))).toEqual(['tool_unavailable', id])
    expect(await after.approvals.get(ada, id)).toMatchObject({ status: 'pending' })
    const { run } = await after.approvals.decide(ada, id, no)

    expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual([])
    await after.close()
    await before.close()
  })
})

test('a decision with the digest of another question is refused, and the approval stays pending', async () => {
  const { server, accepted, ids } = await asked([send('a')])
  const [id = ''] = ids

  expect(await refusalOf(server.approvals.decide(ada, id, { ...yes, digest: 'other' }))).toEqual([
    'approval_changed',
    id,
  ])
  expect(await refusalOf(server.approvals.decide(ada, id, { ...no, digest: 'other' }))).toEqual([
    'approval_changed',
    id,
  ])
  const [question] = await pendingOf(server)
  expect(question?.id).toBe(id)
  const { run } = await server.approvals.decide(ada, id, { ...yes, digest: question?.digest ?? '' })

  await server.events({ ...accepted, run })
  expect(delivered).toEqual(['a bob'])
  await server.close()
})

test('a tool with new defaults is asked again, and the arguments that were shown run', async () => {
  const defaulting = (binding: string, to: string) =>
    send(binding, { parameters: { type: 'object', properties: { to: { type: 'string', default: to } } } })
  const call = { parts: [{ tool_call: { name: 'send', arguments: {} } }] }
  const { server: before, accepted, ids } = await asked([defaulting('a', 'bob')], { answers: [call, done] })
  const after = reopen([defaulting('b', 'eve')])

  await refusalOf(after.approvals.decide(ada, ids[0] ?? '', yes))
  const [next] = await pendingOf(after)
  expect(next?.arguments).toBe('{"to":"bob"}')
  const { run } = await after.approvals.decide(ada, next?.id ?? '', yes)

  expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
  expect(delivered).toEqual(['b bob'])
  await after.close()
  await before.close()
})

describe('an approved call of a tool that changed before it ran', () => {
  test.each(['idempotent', 'read'] as const)(
    'and had begun (%s) is asked about again after a crash',
    async (effect) => {
      const begun = Promise.withResolvers<void>()
      const hanging = send('a', {
        effect,
        call() {
          begun.resolve()
          return new Promise<never>(() => {})
        },
      })
      const { server: before, accepted, ids } = await asked([hanging])
      const { run } = await before.approvals.decide(ada, ids[0] ?? '', yes)
      await begun.promise
      const after = reopen([send('b', { effect })])
      await after.engine.recover()

      expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED interrupt')
      const [next] = await pendingOf(after)
      expect([delivered, next?.policyVersion]).toEqual([[], 'rules-b'])
      await after.close()
      await before.close()
    },
  )

  test('runs again after a crash if it had begun and nothing has changed', async () => {
    const begun = Promise.withResolvers<void>()
    const hanging = send('a', {
      effect: 'idempotent',
      call() {
        begun.resolve()
        return new Promise<never>(() => {})
      },
    })
    const { server: before, accepted, ids } = await asked([hanging])
    const { run } = await before.approvals.decide(ada, ids[0] ?? '', yes)
    await begun.promise
    const after = reopen([send('a', { effect: 'idempotent' })])
    await after.engine.recover()

    expect(outline(await after.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
    expect(delivered).toEqual(['a bob'])
    await after.close()
    await before.close()
  })
})

test('an approval given before the tool changed names the question that replaces it, and so does the log', async () => {
  const begun = Promise.withResolvers<void>()
  const slow = testTool({
    name: 'slow',
    effect: 'read',
    risk: 'high',
    call() {
      begun.resolve()
      return new Promise<never>(() => {})
    },
  })
  const call = { parts: [{ tool_call: { name: 'slow', arguments: {} } }, ...sendTo('bob').parts] }
  const { server: before, ids } = await asked([slow, send('a')], { answers: [call, done] })
  const [first = '', second = ''] = ids
  await before.approvals.decide(ada, first, yes)
  await begun.promise
  await before.approvals.decide(ada, second, yes)
  const lines: [string, unknown][] = []
  const quick = { ...slow, call: async () => ({ content: 'Seen.', isError: false }) }
  const after = reopen([quick, send('b')], { logger: listening(lines) })
  await after.engine.recover()

  await expect.poll(() => pendingOf(after)).toHaveLength(1)
  const [next] = await pendingOf(after)
  expect(await after.approvals.get(ada, second)).toMatchObject({
    status: 'interrupted',
    decidedBy: 'ada',
    reason: `It was approved, and its call did not run: its tool or the rules have changed. It is asked again as ${next?.id}.`,
  })
  expect(lines.filter(([message]) => message.includes('asked for again'))).toEqual([
    [expect.any(String), expect.objectContaining({ approval_id: next?.id, replaces: second })],
  ])
  await after.close()
  await before.close()
})

describe('a review after a start', () => {
  test('asks changed questions again, with a log line for each, and leaves the rest', async () => {
    const { server: before, ids } = await asked([send('a')], { answers: [sendTo('bob', 'eve'), done] })
    const same = reopen([send('a')])
    await same.approvals.review()
    expect((await pendingOf(same)).map(({ id }) => id)).toEqual(ids)
    await same.close()

    const lines: [string, unknown][] = []
    const after = reopen([send('b')], { logger: listening(lines) })
    await after.approvals.review()
    await after.approvals.review()

    const next = await pendingOf(after)
    expect(next.map(({ policyVersion }) => policyVersion)).toEqual(['rules-b', 'rules-b'])
    expect(lines.filter(([message]) => message.includes('asked for again'))).toHaveLength(2)
    expect(lines.map(([, facts]) => facts)).toEqual(
      expect.arrayContaining(next.map(({ id }) => expect.objectContaining({ approval_id: id, tool: 'send' }))),
    )
    await after.close()
    await before.close()
  })

  test('ends the grants of a changed tool, with a log line and an audit record for each, and leaves the rest', async () => {
    const { server: before, accepted, ids } = await asked([send('a')])
    const { run } = await before.approvals.decide(ada, ids[0] ?? '', { ...yes, remember: { scope: 'session' } })
    await before.events({ ...accepted, run })
    const [grant] = await before.approvals.grants()
    for (const tools of [[send('a')], []]) {
      const same = reopen(tools)
      await same.approvals.review()
      expect(await same.approvals.grants()).toEqual([grant])
      await same.close()
    }

    const lines: [string, unknown][] = []
    const after = reopen([send('b')], { logger: listening(lines) })
    await after.approvals.review()

    expect(await after.approvals.grants()).toEqual([])
    const about = { grant_id: grant?.id, agent: 'tester', tool: 'send' }
    expect(lines).toEqual([['a grant has ended, because its tool or the rules have changed', about]])
    const records = (await after.store.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
    expect(records.at(-1)).toMatchObject({ kind: 'grant_revoked', by: 'change', details: { grant: grant?.id } })
    await after.close()
    await before.close()
  })
})
