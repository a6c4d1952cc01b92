import { expect, test } from 'vitest'
import { noMessenger } from '../testing/no-messenger.ts'
import { agentIn, ann, callOf, newSession, openSupervision } from '../testing/open-supervision.ts'
import { createAskOperator } from './ask-operator.ts'
import { createRecoverState } from './recover-state.ts'
import { createReports } from './report.ts'

function openReports(options: Parameters<typeof openSupervision>[0] = {}) {
  const opened = openSupervision(options)
  const asking = createAskOperator({ ...opened.parts, timeouts: { promptSeconds: 1_800, waitSeconds: 0 } })
  const reports = createReports({ ...opened.parts, stallsEnabled: true, messenger: noMessenger })
  const recovers = createRecoverState(opened.parts)
  return { ...opened, service: { ...asking, ...reports, ...recovers } }
}

const agent = agentIn('/srv/here')
const call = callOf(agent)
const done = { label: 'Read', status: 'done' } as const

test('a heartbeat keeps the last checklist until a new one comes, and shows it in the log', async () => {
  const { service, sessions, events } = openReports()
  const { answer } = await service.heartbeat(call, { progress_snapshot: [done], status_message: 'Half way.' })
  await service.heartbeat(call, {})
  const { id, supervision } = await sessions.attach(agent)

  expect(answer).toEqual({ acknowledged: true, session_id: id, stall_detection_enabled: true, pending_steering: [] })
  expect(supervision).toMatchObject({ progressSnapshot: [done], lastTool: 'heartbeat' })
  const progress = { activityType: 'progress', content: { progress: [done], status_message: 'Half way.' } }
  expect((await events(id)).filter(({ type }) => type === 'ACTIVITY_SNAPSHOT')).toMatchObject([progress])
})

test.each([
  ['text', 'all done'],
  ['an unknown status', [{ label: 'a', status: 'finished' }]],
  ['an empty label', [{ label: ' ', status: 'done' }]],
  ['a long label', [{ label: 'x'.repeat(201), status: 'done' }]],
  ['too many items', Array.from({ length: 101 }, () => done)],
])('a checklist with %s is refused, the old one stays, and it is a sign of life all the same', async (_what, bad) => {
  const { service, sessions, clock } = openReports()
  await service.heartbeat(call, { progress_snapshot: [done] })
  await clock.advance(60_000)
  const { isError, answer } = await service.heartbeat(call, { progress_snapshot: bad })
  const { supervision } = await sessions.attach(agent)

  expect([isError, answer.error_code]).toEqual([true, 'invalid_input'])
  expect(supervision).toMatchObject({ progressSnapshot: [done], updatedAt: clock.now() })
})

test('without a channel a log line is kept and not posted', async () => {
  const { service, sessions, events } = openReports()
  expect((await service.remote_log(call, { message: 'Tests pass.' })).answer).toMatchObject({
    posted: false,
    ts: null,
    reason: 'There is no channel.',
  })
  const { id } = await sessions.attach(agent)
  const shown = (await events(id)).find(({ type }) => type === 'TOOL_CALL_ARGS')
  expect(shown).toMatchObject({ delta: '{"message":"Tests pass."}' })
  expect((await service.remote_log(call, { message: 'x'.repeat(4_001) })).answer).toMatchObject({
    error_code: 'invalid_input',
  })
})

test('a new window finds nothing to recover, or the session that was interrupted, and goes on in it', async () => {
  const { service, sessions } = openReports({ maxOpen: 1 })
  expect((await service.recover_state(call, {})).answer).toMatchObject({ status: 'clean' })
  await service.heartbeat(call, { progress_snapshot: [done] })
  const { id } = await sessions.attach(agent)
  await sessions.interrupt(id, 'gone')
  const next = callOf({ ...agent, connectionId: 'window-2' })
  const { answer } = await service.recover_state(next, {})

  expect(answer).toMatchObject({ status: 'recovered', session_id: id, progress_snapshot: [done], pending_requests: [] })
  // The window has one session, and it is the old one.
  expect((await sessions.attach(next.agent)).id).toBe(id)
})

test('a window that has taken up a session by another call finds in recover_state where it was', async () => {
  const { service, sessions } = openReports()
  await service.heartbeat(call, { progress_snapshot: [done] })
  const { id } = await sessions.attach(agent)
  await sessions.goodbye('window-1')
  await sessions.addTask(ann, id, 'Write the notes.')
  const next = callOf({ ...agent, connectionId: 'window-2' })
  const { answer } = await service.heartbeat(next, {})

  expect(answer).toMatchObject({ session_id: id, pending_tasks: [{ text: 'Write the notes.' }] })
  expect((await service.recover_state(next, {})).answer).toMatchObject({
    ...{ status: 'recovered', session_id: id, progress_snapshot: [done] },
  })
})

test('a new window goes on in a session that was restored a moment ago, but not in one that was just started', async () => {
  const { service, sessions } = openReports()
  const { workspaceRoot, tokenId } = agent
  const made = newSession(workspaceRoot, { host: 'claude-code', tokenId })
  await sessions.create(made)
  expect((await service.recover_state(call, {})).answer).toMatchObject({ status: 'clean' })
  const { id } = await sessions.create({ ...made, restoredFrom: 'c1' })
  const next = callOf({ ...agent, connectionId: 'window-2' })

  expect((await service.recover_state(next, {})).answer).toMatchObject({ status: 'recovered', session_id: id })
  expect(await sessions.attach(next.agent)).toMatchObject({ id, supervision: { status: 'active' } })
})

test('two windows that come back at the same time go on in two sessions', async () => {
  const { service, sessions } = openReports()
  const windows = ['window-1', 'window-2'].map((connectionId) => ({ ...agent, connectionId }))
  for (const window of windows) await sessions.interrupt((await sessions.attach(window)).id, 'gone')

  const back = await Promise.all(
    ['window-3', 'window-4'].map((connectionId) => service.recover_state(callOf({ ...agent, connectionId }), {})),
  )

  expect(new Set(back.map(({ answer }) => answer.session_id)).size).toBe(2)
})

test.each([
  ['with the same token', {}],
  ['with a new token', { tokenId: 'token-new' }],
])('without a connection the agent goes on in the interrupted session alone, %s', async (_what, values) => {
  const { service, sessions, store } = openReports({ maxOpen: 1 })
  const lone = callOf({ ...agent, connectionId: null })
  await service.heartbeat(lone, {})
  const { id } = await sessions.attach(lone.agent)
  await sessions.interrupt(id, 'gone')
  const next = callOf({ ...lone.agent, ...values })

  expect((await service.recover_state(next, {})).answer).toMatchObject({ status: 'recovered', session_id: id })
  expect((await service.heartbeat(next, {})).answer).toMatchObject({ acknowledged: true, session_id: id })
  expect((await store.supervised.sessions({ limit: 9 })).length).toBe(1)
})

test('a fresh session ends when the agent goes on in an older one', async () => {
  const { service, sessions, audit } = openReports()
  const lone = callOf({ ...agent, connectionId: null })
  const { id } = await sessions.attach({ ...lone.agent, tokenId: 'token-old' })
  await sessions.interrupt(id, 'gone')
  const fresh = (await service.heartbeat(lone, {})).answer.session_id
  expect(fresh).not.toBe(id)

  expect((await service.recover_state(lone, {})).answer).toMatchObject({ status: 'recovered', session_id: id })
  expect((await sessions.get(String(fresh))).supervision.status).toBe('terminated')
  expect((await audit()).at(-1)).toMatchObject({ what: 'terminated', by: 'claude-code' })
  expect((await service.heartbeat(lone, {})).answer).toMatchObject({ session_id: id })
})

test('tasks come with the recovered session once, and no later session gets them again', async () => {
  const { service, sessions, clock } = openReports()
  await service.heartbeat(call, {})
  const { id } = await sessions.attach(agent)
  await clock.advance(1_000)
  await sessions.addTask(ann, id, 'Update the docs.')
  await sessions.interrupt(id, 'gone')
  const next = callOf({ ...agent, connectionId: 'window-2' })

  expect((await service.recover_state(next, {})).answer).toMatchObject({
    session_id: id,
    pending_tasks: [{ text: 'Update the docs.' }],
  })
  expect((await service.heartbeat(next, {})).answer.pending_tasks).toBe(undefined)
  await clock.advance(1_000)
  const later = await service.heartbeat(callOf({ ...agent, connectionId: 'window-3' }), {})
  expect(later.answer.pending_tasks).toBe(undefined)
})

test('a session that was ended is not recovered, by its id or by its window', async () => {
  const { service, sessions, store } = openReports()
  const { id: session_id } = await sessions.attach(agent)
  const other = await sessions.attach({ ...agent, connectionId: 'window-2' })
  await sessions.terminate(ann, session_id)
  await sessions.interrupt(other.id, 'gone')
  const ended = { isError: true, answer: { error_code: 'session_ended' } }

  expect(await service.recover_state(callOf({ ...agent, connectionId: null }), { session_id })).toMatchObject(ended)
  expect(await service.recover_state(call, {})).toMatchObject(ended)
  expect((await store.supervised.sessions({ limit: 9 })).length).toBe(2)
})

test('recovering by id tells what is pending, and a session of somebody else is not found', async () => {
  const { service, nextWaiting } = openReports()
  void service.forward_prompt(call, { prompt_text: 'Go on?' })
  const { id: request_id, sessionId: session_id } = await nextWaiting()
  const other = callOf({ ...agent, connectionId: 'window-2' })

  expect((await service.recover_state(other, { session_id })).answer).toMatchObject({
    session_id,
    pending_requests: [{ request_id, type: 'prompt', title: 'Go on?' }],
  })
  const foreign = callOf({ ...agent, owner: 'eve', tokenId: 'token-eve' })
  expect((await service.recover_state(foreign, { session_id })).answer).toMatchObject({
    error_code: 'request_not_found',
  })
})

test('a task waits for the next session in its workspace, which gets it once', async () => {
  const { service, sessions, clock } = openReports()
  await service.heartbeat(call, {})
  const { id } = await sessions.attach(agent)
  await sessions.addTask(ann, id, 'Update the docs.')
  expect((await service.heartbeat(call, {})).answer.pending_tasks).toBe(undefined)
  await sessions.terminate(ann, id)
  await clock.advance(1_000)
  const next = callOf({ ...agent, connectionId: 'window-2' })

  const { answer } = await service.recover_state(next, {})
  expect(answer).toMatchObject({ pending_tasks: [{ text: 'Update the docs.', source: 'ann via ctl' }] })
  expect((await service.heartbeat(next, {})).answer.pending_tasks).toBe(undefined)
})

test('an agent changes its mode, unless its operator forbids it', async () => {
  const { service, sessions, audit } = openReports()
  const answer = { previous_mode: 'remote', current_mode: 'local' }
  expect((await service.set_operational_mode(call, { mode: 'local' })).answer).toMatchObject(answer)
  expect((await sessions.attach(agent)).supervision.mode).toBe('local')
  expect((await audit()).at(-1)).toMatchObject({ what: 'mode', by: 'claude-code', from: 'remote', to: 'local' })

  const strict = openReports({ agentMaySetMode: false })
  expect((await strict.service.set_operational_mode(call, { mode: 'local' })).answer).toMatchObject({
    error_code: 'forbidden',
  })
})
