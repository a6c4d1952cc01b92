import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { type ChangeWriter, createChangeWriter } from '../diffs/change-writer.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'

const never = new Promise<never>(() => {})

async function openApproved(
  options: Parameters<typeof openSupervision>[0] = {},
  decision: Partial<Decision> = {},
  input = {},
) {
  const workspace = makeWorkspace({ 'a.txt': 'old\n' })
  const service = openSupervision(options)
  const agent = agentIn(workspace)
  const answer = service.tools.ask_approval(callOf(agent), {
    title: 'Change',
    diff: 'new\n',
    file_path: 'a.txt',
    ...input,
  })
  const { id, sessionId } = await service.nextWaiting()
  await service.approvals.decide(ann, id, { decision: 'approve', ...decision })
  await answer
  const record = async () => {
    const found = await service.store.waits.get(id)
    if (found?.wait !== 'approval') throw new Error('the approval is gone')
    return found
  }
  return {
    ...service,
    ...{ workspace, agent, id, sessionId, record },
    accept: (more = {}, who = agent) => service.tools.accept_diff(callOf(who), { request_id: id, ...more }),
    file: () => readFileSync(join(workspace, 'a.txt'), 'utf8'),
  }
}

test('an approved change is written once', async () => {
  const service = await openApproved()

  expect((await service.accept()).answer).toMatchObject({
    status: 'applied',
    files_written: [{ path: 'a.txt', bytes: 4 }],
  })
  expect(service.file()).toBe('new\n')
  expect(await service.record()).toMatchObject({
    status: 'consumed',
    consumedAt: expect.any(Number),
    supervised: { appliedAt: expect.any(Number) },
  })
  expect((await service.sessions.get(service.sessionId)).supervision.stallPaused).toBe(false)
  writeFileSync(join(service.workspace, 'a.txt'), 'old\n')
  expect(await service.accept()).toMatchObject({ isError: true, answer: { error_code: 'already_consumed' } })
  expect(service.file()).toBe('old\n')
  expect((await service.audit()).slice(-2)).toMatchObject([
    { kind: 'call_started', by: 'claude-code', approval: service.id, file_path: 'a.txt' },
    { kind: 'call_finished', approval: service.id, status: 'applied', bytes: 4 },
  ])
})

test.each(['pause', 'terminate'] as const)(
  'nothing is written after a %s that came while the call was on its way',
  async (stop) => {
    const writer = createChangeWriter()
    let stopped: () => Promise<unknown> = async () => null
    const service = await openApproved({
      writer: {
        ...writer,
        async apply(change, options) {
          await stopped()
          return writer.apply(change, options)
        },
      },
    })
    stopped = () => service.sessions[stop](ann, service.sessionId)

    expect((await service.accept()).answer).toMatchObject({
      error_code: stop === 'pause' ? 'session_paused' : 'session_ended',
    })
    expect([service.file(), (await service.record()).status]).toEqual(['old\n', 'approved'])
  },
)

test('files are created and deleted too', async () => {
  const created = await openApproved({}, {}, { file_path: 'new/b.txt', diff: 'b\n' })
  await created.accept()
  expect(readFileSync(join(created.workspace, 'new/b.txt'), 'utf8')).toBe('b\n')

  const patch = '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n'
  const deleted = await openApproved({}, {}, { diff: patch })
  expect((await deleted.accept()).answer).toMatchObject({ status: 'applied' })
  expect(existsSync(join(deleted.workspace, 'a.txt'))).toBe(false)
})

test('what the operator edited is what is written', async () => {
  const workspace = makeWorkspace({ 'a.txt': 'old\n' })
  const service = openSupervision()
  const answer = service.tools.ask_approval(callOf(agentIn(workspace)), {
    title: 'T',
    diff: 'new\n',
    file_path: 'a.txt',
  })
  const { id } = await service.nextWaiting()
  await expect(service.approvals.decide(ann, id, { decision: 'approve', content: 'better\n' })).rejects.toThrow()
  const { digest } = await service.approvals.get(ann, id)
  await service.approvals.decide(ann, id, { decision: 'approve', digest })
  await answer

  await service.tools.accept_diff(callOf(agentIn(workspace)), { request_id: id })
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('better\n')
})

test('nothing is written without a yes', async () => {
  const workspace = makeWorkspace({ 'a.txt': 'old\n' })
  const service = openSupervision()
  const agent = agentIn(workspace)
  const accept = async (request_id: string) => (await service.tools.accept_diff(callOf(agent), { request_id })).answer
  const answer = service.tools.ask_approval(callOf(agent), { title: 'T', diff: 'new\n', file_path: 'a.txt' })
  const { id } = await service.nextWaiting()

  expect(await accept(id)).toMatchObject({ error_code: 'not_approved', approval_status: 'pending' })
  await service.approvals.decide(ann, id, { decision: 'reject' })
  await answer
  expect(await accept(id)).toMatchObject({ error_code: 'not_approved', approval_status: 'rejected' })
  expect(await accept('nope')).toMatchObject({ error_code: 'request_not_found' })
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('old\n')
})

test('a file that has changed conflicts, and the approval stays; force counts only where the decision granted it', async () => {
  const service = await openApproved()
  writeFileSync(join(service.workspace, 'a.txt'), 'other\n')

  expect((await service.accept()).answer).toMatchObject({ error_code: 'patch_conflict' })
  const forced = await service.accept({ force: true })
  expect(forced.answer).toMatchObject({
    error_code: 'patch_conflict',
    error_message: expect.stringContaining('does not allow force'),
  })
  expect([service.file(), (await service.record()).status]).toEqual(['other\n', 'approved'])
  writeFileSync(join(service.workspace, 'a.txt'), 'old\n')
  expect((await service.accept()).answer.status).toBe('applied')
})

test('with force granted the approved bytes replace the changed file, with a warning', async () => {
  const service = await openApproved({}, { force: true })
  writeFileSync(join(service.workspace, 'a.txt'), 'other\n')

  expect((await service.accept()).answer).toMatchObject({ error_code: 'patch_conflict' })
  expect((await service.accept({ force: true })).answer).toMatchObject({
    status: 'applied',
    warnings: [expect.stringContaining('changed')],
  })
  expect(service.file()).toBe('new\n')
  expect((await service.audit()).at(-1)).toMatchObject({
    kind: 'call_finished',
    warnings: expect.stringContaining('changed'),
  })
})

test('of two calls at once one writes', async () => {
  const service = await openApproved()

  const both = await Promise.all([service.accept(), service.accept()])

  const words = both.map(({ answer }) => answer.status === 'applied' || answer.error_code)
  expect(words.sort()).toEqual(['already_consumed', true])
  expect((await service.audit()).filter(({ kind }) => kind === 'call_started')).toHaveLength(1)
})

test('another window may not use it; a session that took the place of a lost one may', async () => {
  const service = await openApproved()
  const other = agentIn(service.workspace, { connectionId: 'window-2' })

  expect((await service.accept({}, other)).answer).toMatchObject({ error_code: 'not_approved' })
  await service.sessions.interrupt(service.sessionId, 'The process ended.')
  expect((await service.accept({}, other)).answer).toMatchObject({ status: 'applied' })
  expect(service.file()).toBe('new\n')
})

test('the stall timer pauses while the server writes', async () => {
  const real = createChangeWriter()
  const paused: boolean[] = []
  const writer: ChangeWriter = {
    ...real,
    async apply(change, options) {
      paused.push((await service.sessions.get(service.sessionId)).supervision.stallPaused)
      return real.apply(change, options)
    },
  }
  const service = await openApproved({ writer })
  await service.accept()

  expect(paused).toEqual([true])
})

test('a failure after the approval was used says why nothing was written, and it is not tried again', async () => {
  const real = createChangeWriter()
  const writer: ChangeWriter = {
    ...real,
    async apply(change, { beforeRename }) {
      await beforeRename()
      writeFileSync(join(change.workspaceRoot, 'a.txt'), 'racer\n')
      throw new ServerError('patch_conflict', 'a.txt has changed.')
    },
  }
  const service = await openApproved({ writer })

  expect((await service.accept()).answer).toMatchObject({ error_code: 'patch_conflict' })
  expect(await service.record()).toMatchObject({
    status: 'consumed',
    supervised: { appliedAt: null, notApplied: 'a.txt has changed.' },
  })
  expect((await service.accept()).answer).toMatchObject({
    error_code: 'already_consumed',
    error_message: expect.stringContaining('not written'),
  })
  await service.recoverApplies()
  expect(service.file()).toBe('racer\n')
})

/** A writer whose process dies at this place: nothing after it happens. */
function dies(at: 'before use' | 'after use' | 'after rename'): ChangeWriter {
  const real = createChangeWriter()
  return {
    ...real,
    async apply(change, { beforeRename, ...options }) {
      if (at === 'before use') return never
      if (at === 'after use') {
        await beforeRename()
        return never
      }
      await real.apply(change, { ...options, beforeRename })
      return never
    },
  }
}

test.each([
  ['before use', 'approved', 'old\n', 'old\n'],
  ['after use', 'consumed', 'old\n', 'new\n'],
  ['after rename', 'consumed', 'new\n', 'new\n'],
] as const)(
  'a kill %s leaves the record %s and the file right after the next start',
  async (at, status, before, after) => {
    const killed = await openApproved({ writer: dies(at) })
    void killed.accept()
    const isThere = async () =>
      (await killed.record()).status === status &&
      killed.file() === before &&
      (await killed.sessions.get(killed.sessionId)).supervision.stallPaused
    while (!(await isThere())) await new Promise<void>((resolve) => void setImmediate(resolve))

    const next = openSupervision({ store: killed.store, clock: killed.clock })
    await next.recoverApplies()

    expect(killed.file()).toBe(after)
    expect((await next.sessions.get(killed.sessionId)).supervision.stallPaused).toBe(false)
    const answer = (await next.tools.accept_diff(callOf(killed.agent), { request_id: killed.id })).answer
    expect(answer).toMatchObject(at === 'before use' ? { status: 'applied' } : { error_code: 'already_consumed' })
    expect(killed.file()).toBe('new\n')
    expect(await killed.record()).toMatchObject({ status: 'consumed', supervised: { appliedAt: expect.any(Number) } })
    expect(await next.store.supervised.unapplied(10)).toEqual([])
  },
)

test('a kill and a file that somebody changed meanwhile end in a record that says so', async () => {
  const killed = await openApproved({ writer: dies('after use') })
  void killed.accept()
  while ((await killed.record()).status !== 'consumed') await new Promise<void>((resolve) => void setImmediate(resolve))
  writeFileSync(join(killed.workspace, 'a.txt'), 'other\n')

  const next = openSupervision({ store: killed.store, clock: killed.clock })
  await next.recoverApplies()

  expect(killed.file()).toBe('other\n')
  expect(await killed.record()).toMatchObject({
    supervised: { appliedAt: null, notApplied: expect.stringContaining('other content') },
  })
  expect((await next.audit()).at(-1)).toMatchObject({ kind: 'call_finished', status: 'failed' })
})

test('a damaged record keeps no timer from going on after a start', async () => {
  const service = await openApproved()
  await service.takeStep(service.sessionId, () => ({
    result: null,
    supervision: { stallPaused: true },
    settle: [{ id: service.id, patch: { digest: 'damaged' } }],
  }))

  await service.recoverApplies()

  expect((await service.sessions.get(service.sessionId)).supervision.stallPaused).toBe(false)
})

test('what a policy approved is not written once the server itself loads the file', async () => {
  const text = JSON.stringify({ enabled: true, file_patterns: { write: ['**'] } })
  const workspace = makeWorkspace({ 'a.txt': 'old\n', '.quarterdeck/policy.json': text })
  const store = openTestStore()
  onTestFinished(() => store.close())
  const agent = agentIn(workspace)
  const service = openSupervision({ store })
  const change = { title: 'Change', diff: 'new\n', file_path: 'a.txt' }
  await service.tools.check_auto_approve(callOf(agent), { tool_name: 'Write', context: { file_path: 'a.txt' } })
  await service.approvals.decide(ann, (await service.nextWaiting()).id, { decision: 'approve' })
  const { answer } = await service.tools.ask_approval(callOf(agent), change)
  expect(answer).toMatchObject({ status: 'approved', matched_rule: 'file_pattern:write:**' })

  const restarted = openSupervision({ store, clock: service.clock, serverPaths: [join(workspace, 'a.txt')] })
  const refused = await restarted.tools.accept_diff(callOf(agent), { request_id: String(answer.request_id) })

  expect(refused).toMatchObject({ isError: true, answer: { error_code: 'not_approved' } })
  expect(refused.answer.error_message).toContain('This server reads it.')
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('old\n')
})
