import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisedStatus } from '../../domain/supervision/supervision.ts'
import type { ManualClock } from '../../models/testing/manual-clock.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import type { Store } from '../../store/store.ts'
import { createReports } from '../agent-service/report.ts'
import { noMessenger } from '../testing/no-messenger.ts'
import { agentIn, ann, callOf, eve, newSession, openSupervision, root } from '../testing/open-supervision.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { configuredOperators } from './may-command.ts'
import type { AgentIdentity, SupervisedSessions } from './supervised-sessions.ts'

const here = agentIn('/srv/here')
const window = (connectionId: string | null, values: Partial<AgentIdentity> = {}) => ({
  ...here,
  connectionId,
  ...values,
})

test('two windows of one host are two sessions, and a window keeps its own', async () => {
  const { sessions } = openSupervision()
  const first = await sessions.attach(window('a'))
  const second = await sessions.attach(window('b'))

  expect((await sessions.attach(window('a'))).id).toBe(first.id)
  expect(second.id).not.toBe(first.id)
  expect(first).toMatchObject({
    owner: 'ann',
    agent: 'claude-code',
    supervision: { status: 'active', workspaceRoot: '/srv/here' },
  })
})

test('a call reads its own session, however many others its token has', async () => {
  const store = openTestStore()
  let read = 0
  const sessionsRead: Store['supervised']['sessions'] = async (query) => {
    const found = await store.supervised.sessions(query)
    read += found.length
    return found
  }
  const { sessions } = openSupervision({
    store: { ...store, supervised: { ...store.supervised, sessions: sessionsRead } },
  })
  for (let i = 0; i < 10; i += 1) await sessions.attach(window(`window ${i}`))
  expect(read).toBe(0)

  await sessions.attach(window('window 3'))
  expect(read).toBe(1)
})

test('a call without a connection belongs to the one open session of its token, and several are listed', async () => {
  const { sessions } = openSupervision()
  const only = await sessions.attach(window('a'))
  expect((await sessions.attach(window(null))).id).toBe(only.id)

  const other = await sessions.attach(window('b'))
  await expect(sessions.attach(window(null))).rejects.toMatchObject({
    code: 'conflict',
    details: { sessions: expect.arrayContaining([only.id, other.id]) },
  })
  expect((await sessions.attach(window(null, { sessionId: other.id }))).id).toBe(other.id)
})

test('a session of another owner or another workspace is not found', async () => {
  const { sessions } = openSupervision()
  const { id: sessionId } = await sessions.attach(window('a'))
  const foreign = { sessionId, tokenId: 'token-eve', owner: 'eve' }

  await expect(sessions.attach(window('x', foreign))).rejects.toMatchObject({ code: 'session_not_found' })
  await expect(sessions.attach(window('x', { sessionId, workspaceRoot: '/srv/there' }))).rejects.toMatchObject({
    code: 'session_not_found',
  })
})

test('the limit of open sessions names them, and counts one that comes back', async () => {
  const { sessions } = openSupervision({ maxOpen: 2 })
  const first = await sessions.attach(window('a'))
  const second = await sessions.attach(window('b'))
  await sessions.interrupt(first.id, 'gone')
  await sessions.attach(window('c', { host: 'codex' }))
  const full = { code: 'limit', details: { limit: 2, sessions: expect.arrayContaining([second.id]) } }

  await expect(sessions.attach(window('d'))).rejects.toMatchObject(full)
  await expect(sessions.attach(window('a', { sessionId: first.id }))).rejects.toMatchObject(full)
  await sessions.terminate(ann, second.id)
  expect((await sessions.attach(window('a', { sessionId: first.id }))).supervision).toMatchObject({
    status: 'active',
    terminatedAt: null,
  })
})

test.each<[SupervisedStatus, string, string]>([
  ['active', 'pause', 'paused'],
  ['paused', 'resume', 'active'],
  ['paused', 'terminate', 'terminated'],
  ['interrupted', 'resume', 'active'],
  ['interrupted', 'terminate', 'terminated'],
])('a session that is %s can %s', async (from, verb, to) => {
  const { sessions } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  if (from === 'paused') await sessions.pause(ann, id)
  if (from === 'interrupted') await sessions.interrupt(id, 'gone')
  const act = { pause: sessions.pause, resume: sessions.resume, terminate: sessions.terminate }[verb]

  expect((await act?.(ann, id))?.supervision.status).toBe(to)
  // Saying it twice is not an error.
  expect((await act?.(ann, id))?.supervision.status).toBe(to)
})

test('a terminated session stays terminated, and an agent that names it is told', async () => {
  const { sessions } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  await sessions.terminate(ann, id)

  await expect(sessions.resume(ann, id)).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.steer(ann, id, 'Hi')).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.attach(window('a', { sessionId: id }))).rejects.toMatchObject({ code: 'session_ended' })
})

test('only the owner and an admin command a session; another operator sees it', async () => {
  const { sessions, audit } = openSupervision()
  const { id } = await sessions.attach(window('a'))

  await expect(sessions.pause(eve, id)).rejects.toMatchObject({ code: 'forbidden', details: { owner: 'ann' } })
  await expect(sessions.pause({ user: 'ann', role: 'user' }, id)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await sessions.get(id)).supervision.status).toBe('active')
  await sessions.pause(root, id)
  expect((await audit()).at(-1)).toEqual({ kind: 'supervised', by: 'root', what: 'paused', channel: 'http' })
})

test('an admin hands a session over with what is pending, and its agent token still finds it', async () => {
  const { sessions, audit } = openSupervision()
  const { id } = await sessions.attach(window('a'))

  await expect(sessions.handOver(ann, id, 'eve')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(sessions.handOver(root, id, 'nobody')).rejects.toMatchObject({ code: 'invalid_request' })
  expect((await sessions.handOver(root, id, 'eve')).owner).toBe('eve')
  await expect(sessions.pause(ann, id)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await sessions.attach(window('a'))).id).toBe(id)
  expect((await audit()).at(-1)).toMatchObject({ what: 'handed_over', from: 'ann', to: 'eve' })
})

test('a created session that nobody connects to ends, a silent one is interrupted, one with a stream is not', async () => {
  const told: string[][] = []
  const { sessions, clock } = openSupervision({ onEnd: ({ id }, text) => told.push([id, text]) })
  const created = await sessions.create(newSession('/srv/here'))
  const silent = await sessions.attach(window('a'))
  const connected = await sessions.attach(window('b'))
  const leave = sessions.arrive(connected.id)
  const statuses = async () => {
    await sessions.sweep()
    const found = await Promise.all([created, silent, connected].map(({ id }) => sessions.get(id)))
    return found.map(({ supervision }) => supervision.status)
  }

  await clock.advance(29_000)
  expect(await statuses()).toEqual(['created', 'active', 'active'])
  await clock.advance(1_000)
  expect(await statuses()).toEqual(['terminated', 'active', 'active'])
  await clock.advance(1_770_000)
  expect(await statuses()).toEqual(['terminated', 'interrupted', 'active'])
  leave()
  expect(await statuses()).toEqual(['terminated', 'interrupted', 'interrupted'])
  const silence = 'The session is interrupted. Nobody has heard from the agent for half an hour.'
  expect(told).toEqual([
    [created.id, 'The session is terminated. The agent did not connect in time.'],
    [silent.id, silence],
    [connected.id, silence],
  ])
})

test('a restored session whose agent does not come frees its place after 30 s, and its agent still finds it', async () => {
  const { sessions, clock } = openSupervision()
  const { workspaceRoot, tokenId } = window('a')
  const restored = await sessions.create(newSession(workspaceRoot, { tokenId, restoredFrom: 'c1', id: 'chosen' }))
  const status = async () => {
    await sessions.sweep()
    return (await sessions.get(restored.id)).supervision.status
  }

  expect(restored.id).toBe('chosen')
  await clock.advance(29_000)
  expect(await status()).toBe('created')
  await clock.advance(1_000)
  expect(await status()).toBe('interrupted')
  await sessions.attach({ ...window('b'), sessionId: restored.id })
  expect(await status()).toBe('active')
})

test('the log shows one run after the other, and every run has its end', async () => {
  const { sessions, events } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  await sessions.steer(ann, id, 'Use tabs.')
  await sessions.interrupt(id, 'gone')
  await sessions.resume(ann, id)
  await sessions.terminate(ann, id, 'done')

  expect((await events(id)).map(({ type }) => type)).toEqual([
    'RUN_STARTED',
    'ACTIVITY_SNAPSHOT',
    'ACTIVITY_SNAPSHOT',
    'RUN_ERROR',
    'RUN_STARTED',
    'ACTIVITY_SNAPSHOT',
    'ACTIVITY_SNAPSHOT',
    'RUN_FINISHED',
  ])
})

test('fifty changes at once are all made, each from what the one before it left', async () => {
  const { sessions, takeStep } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  const add = () =>
    takeStep(id, ({ session }) => ({ result: null, supervision: { nudgeCount: session.supervision.nudgeCount + 1 } }))
  await Promise.all(Array.from({ length: 50 }, add))

  expect((await sessions.get(id)).supervision.nudgeCount).toBe(50)
})

test('a session opens only in a workspace of the settings, and has its channel unless the agent names another', async () => {
  const forbidden = (what: string) => new ServerError('forbidden', what)
  const workspaces: Workspaces = {
    find(path) {
      if (path !== '/srv/here') throw forbidden('workspace')
      return { path, id: null, channelId: 'C1', label: null }
    },
    checkChannel(channelId) {
      if (channelId !== 'C2') throw forbidden('channel')
    },
  }
  const { sessions, store } = openSupervision({ workspaces })
  const open = async (values: Partial<AgentIdentity>) =>
    (await sessions.attach(window('a', { channelId: null, ...values }))).supervision.channelId

  await expect(open({ workspaceRoot: '/srv/else' })).rejects.toThrow('workspace')
  await expect(open({ channelId: 'C3' })).rejects.toThrow('channel')
  expect(await store.supervised.sessions({ limit: 9 })).toEqual([])
  expect([await open({}), await open({ connectionId: 'b', channelId: 'C2' })]).toEqual(['C1', 'C2'])
})

test('an agent does not choose the channel of another workspace, but its token may be bound to it', async () => {
  const workspaces: Workspaces = {
    find: (path) => ({ path, id: null, channelId: null, label: null }),
    checkChannel(_channelId, path) {
      if (path !== undefined) throw new ServerError('forbidden', 'foreign')
    },
  }
  const { sessions } = openSupervision({ workspaces })

  await expect(sessions.attach(window('a', { channelId: 'C1' }))).rejects.toThrow('foreign')
  const { supervision } = await sessions.attach(window('a', { channelId: 'C1', isChannelOfToken: true }))
  expect(supervision.channelId).toBe('C1')
})

test('a session whose channel is not in the settings any more asks in that of its workspace', async () => {
  const channels = new Set(['C1', 'C2'])
  let ofWorkspace = 'C1'
  const workspaces: Workspaces = {
    find: (path) => ({ path, id: null, channelId: ofWorkspace, label: null }),
    checkChannel(channelId) {
      if (!channels.has(channelId)) throw new ServerError('forbidden', 'channel')
    },
  }
  const { sessions } = openSupervision({ workspaces })
  const roomOf = async (values: Partial<AgentIdentity> = {}) =>
    (await sessions.attach(window('a', { channelId: null, ...values }))).supervision.channelId
  const { id: sessionId } = await sessions.attach(window('a', { channelId: null }))
  ofWorkspace = 'C2'
  expect([await roomOf(), await roomOf({ sessionId })]).toEqual(['C1', 'C1'])
  channels.delete('C1')

  expect([await roomOf(), await roomOf({ sessionId })]).toEqual(['C2', 'C2'])
})

test('an open session takes no calls when the settings no longer name its workspace', async () => {
  const before = openSupervision()
  const { id } = await before.sessions.attach(window('a'))
  const workspaces: Workspaces = {
    find() {
      throw new ServerError('forbidden', 'workspace')
    },
    checkChannel() {},
  }
  const after = openSupervision({ store: before.store, workspaces })

  await expect(after.sessions.attach(window('a'))).rejects.toThrow('workspace')
  await expect(after.sessions.attach(window(null, { sessionId: id }))).rejects.toThrow('workspace')
})

test('an agent that was stopped cannot go on in a new session of the same window', async () => {
  const { sessions } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  await sessions.terminate(ann, id)

  await expect(sessions.attach(window('a'))).rejects.toMatchObject({ code: 'session_ended' })
  expect((await sessions.attach(window('b'))).supervision.status).toBe('active')
})

test('a window whose session was interrupted comes back to it', async () => {
  const { sessions } = openSupervision()
  const { id } = await sessions.attach(window('a'))
  await sessions.interrupt(id, 'gone')

  expect(await sessions.attach(window('a'))).toMatchObject({
    id,
    supervision: { status: 'active', terminatedAt: null },
  })
})

test('a call for another folder does not belong to the open session of its token', async () => {
  const { sessions } = openSupervision()
  const first = await sessions.attach(window(null))
  const other = await sessions.attach(window(null, { workspaceRoot: '/srv/here/sub' }))

  expect(other.id).not.toBe(first.id)
  expect(other.supervision.workspaceRoot).toBe('/srv/here/sub')
  expect((await sessions.attach(window(null))).id).toBe(first.id)
})

test('an agent whose stream is open is not lost, however long it is silent', async () => {
  let isConnected = true
  const { sessions, clock } = openSupervision({ isConnected: () => isConnected })
  const { id } = await sessions.attach(window('a'))
  await clock.advance(3_600_000)
  await sessions.sweep()
  expect((await sessions.get(id)).supervision.status).toBe('active')
  isConnected = false
  await sessions.sweep()
  expect((await sessions.get(id)).supervision.status).toBe('interrupted')
})

test.each<[string, (sessions: SupervisedSessions, id: string, clock: ManualClock) => Promise<unknown>]>([
  ['is silent for long', (sessions, _id, clock) => clock.advance(3_600_000).then(sessions.sweep)],
  ['is closed', (sessions) => sessions.goodbye('a')],
  ['has crashed', (sessions, id) => sessions.interrupt(id, 'gone')],
])(
  'a window that was paused and %s rests, and neither it nor a new one goes on before its operator says so',
  async (_what, leave) => {
    const { parts, sessions, clock } = openSupervision()
    const { heartbeat } = createReports({ ...parts, stallsEnabled: true, messenger: noMessenger })
    const { id } = await sessions.attach(window('a'))
    await sessions.pause(ann, id)
    await leave(sessions, id, clock)
    const statusOf = async () => (await sessions.get(id)).supervision.status

    expect(await statusOf()).toBe('interrupted')
    for (const connectionId of ['a', 'b', 'b']) {
      expect((await heartbeat(callOf(window(connectionId)), {})).answer).toMatchObject({ error_code: 'session_paused' })
    }
    expect(await statusOf()).toBe('interrupted')
    await sessions.resume(ann, id)
    expect((await heartbeat(callOf(window('b')), {})).answer).toMatchObject({ acknowledged: true, session_id: id })
    // The next time is not a pause.
    await sessions.goodbye('b')
    expect((await sessions.attach(window('c'))).supervision.status).toBe('active')
  },
)

describe('a window that is closed', () => {
  test('leaves its session at rest, with what it asked, and a new window of this agent goes on in it', async () => {
    const told: string[] = []
    const { sessions, tools, nextWaiting, store, audit } = openSupervision({
      maxOpen: 1,
      onEnd: (_, text) => told.push(text),
    })
    const asked = tools.approve_tool(callOf(window('a')), { tool_name: 'Bash', input: { command: 'make' } })
    const { id: question, sessionId } = await nextWaiting()

    await sessions.goodbye('a')
    await sessions.goodbye('a')

    await asked
    expect((await sessions.get(sessionId)).supervision).toMatchObject({
      ...{ status: 'interrupted', terminatedAt: expect.any(Number) },
    })
    expect(await store.waits.get(question)).toMatchObject({ status: 'interrupted' })
    expect(told).toEqual(['The session is interrupted. Its window was closed.'])
    expect((await audit()).filter(({ what }) => what === 'interrupted').length).toBe(1)
    expect(await sessions.attach(window('b'))).toMatchObject({
      ...{ id: sessionId, supervision: { status: 'active', terminatedAt: null, connectionId: 'b' } },
    })
    // A goodbye that comes late is not that of the new window.
    await sessions.goodbye('a')
    expect((await sessions.get(sessionId)).supervision.status).toBe('active')
  })

  test('is not taken up by another agent, by a window in another folder, or by a second window beside the first', async () => {
    const { sessions } = openSupervision()
    const { id } = await sessions.attach(window('a'))
    await sessions.goodbye('a')
    const strangers = [
      window('b', { host: 'codex' }),
      window('c', { tokenId: 'other' }),
      { ...window('d'), workspaceRoot: '/srv/else' },
    ]
    for (const stranger of strangers) expect((await sessions.attach(stranger)).id).not.toBe(id)

    // The hook of a host and its handshake have different names for it.
    const [one, two] = await Promise.all([
      sessions.attach(window('e', { host: 'claude' })),
      sessions.attach(window('f')),
    ])

    expect([one.id, two.id].filter((taken) => taken === id).length).toBe(1)
    expect(one.id).not.toBe(two.id)
  })

  test('calls again: the same window is active in the same session', async () => {
    const { sessions } = openSupervision()
    const { id } = await sessions.attach(window('a'))
    await sessions.goodbye('a')

    expect(await sessions.attach(window('a'))).toMatchObject({
      id,
      supervision: { status: 'active', terminatedAt: null },
    })
  })

  test('does not end a process that we started: its own end says more', async () => {
    const { sessions, takeStep } = openSupervision()
    const { id } = await sessions.create(newSession(here.workspaceRoot, { tokenId: here.tokenId }))
    await takeStep(id, () => ({ result: null, supervision: { spawned: { pid: 7, startedAt: 1 } } }))
    await sessions.attach(window('a', { sessionId: id }))
    await sessions.goodbye('a')

    expect((await sessions.get(id)).supervision).toMatchObject({ status: 'active', connectionId: 'a' })
  })
})

describe('a window whose connection is gone', () => {
  const bridge = 'token-agent:bridge-1'
  async function openGone(connectionId: string | null, values: Partial<AgentIdentity> = {}) {
    const connected = new Set<string>()
    const service = openSupervision({ isConnected: (id) => connected.has(id) })
    const session = await service.sessions.attach(window(connectionId, values))
    /** Lets time pass as the server lives it, and tells the status. */
    async function pass(seconds: number) {
      for (let left = seconds; left > 0; left -= 10) {
        await service.clock.advance(Math.min(left, 10) * 1_000)
        await service.sessions.sweep()
      }
      return (await service.sessions.get(session.id)).supervision.status
    }
    return { ...service, id: session.id, connected, pass }
  }

  test('rests after a minute, counted anew when the connection was back or a call came', async () => {
    const { sessions, takeStep, id, connected, pass } = await openGone(bridge)
    connected.add(bridge)
    expect(await pass(600)).toBe('active')
    connected.clear()
    expect(await pass(60)).toBe('active')
    connected.add(bridge)
    expect(await pass(10)).toBe('active')
    connected.clear()
    expect(await pass(60)).toBe('active')
    await takeStep(id, ({ at }) => ({ result: null, supervision: { updatedAt: at } }))
    expect(await pass(50)).toBe('active')
    expect(await pass(10)).toBe('interrupted')
    expect((await sessions.attach(window(bridge))).supervision.status).toBe('active')
  })

  test('is not interrupted while it waits for a person', async () => {
    const { tools, nextWaiting, approvals, pass } = await openGone(bridge)
    const gone = new AbortController()
    const asked = tools.approve_tool(callOf(window(bridge), { signal: gone.signal }), {
      tool_name: 'Bash',
      input: { command: 'make' },
    })
    const { id } = await nextWaiting()
    gone.abort()
    await asked
    expect(await pass(1_900)).toBe('active')
    await approvals.decide(ann, id, { decision: 'reject' })
    expect(await pass(70)).toBe('interrupted')
  })

  test('a process that has not looked for a while begins to count again', async () => {
    const { clock, pass } = await openGone(bridge)
    expect(await pass(20)).toBe('active')
    await clock.advance(600_000)
    expect(await pass(60)).toBe('active')
    expect(await pass(10)).toBe('interrupted')
  })

  test.each([
    ['a modern caller', null],
    ['a window that only has hooks', 'hook:claude:1'],
    ['a legacy client that never opened a stream', '0192f3a1-7b2c-7def-8abc-0123456789ac'],
  ])('%s has none to lose: only half an hour counts', async (_what, connectionId) => {
    const { pass } = await openGone(connectionId)

    expect(await pass(1_790)).toBe('active')
    expect(await pass(10)).toBe('interrupted')
  })
})

test.each(['', ' \n', 'x'.repeat(4_001)])(
  'steering and tasks have 1 to 4,000 characters, title and name fewer',
  async (text) => {
    const { sessions, store } = openSupervision()
    const { id } = await sessions.attach(window('a'))
    const refused = { code: 'invalid_request', message: expect.stringMatching(/of 1 to \d+ characters/) }

    await expect(sessions.steer(ann, id, text)).rejects.toMatchObject(refused)
    await expect(sessions.addTask(ann, id, text)).rejects.toMatchObject(refused)
    await expect(sessions.create(newSession('/srv/here', { title: text }))).rejects.toMatchObject(refused)
    await expect(sessions.handOver(root, id, text)).rejects.toMatchObject(refused)
    expect(await store.supervised.instructions({ isWaiting: true, limit: 9 })).toEqual([])
    // A character that needs two code units counts once.
    expect((await sessions.steer(ann, id, '🚢'.repeat(4_000))).deliveredAt).toBe(null)
  },
)

test('a token of somebody who is not an operator opens no session, and none of before goes on', async () => {
  const before = openSupervision({ operators: configuredOperators([]) })
  const { id: sessionId } = await before.sessions.attach(window('a', { owner: 'mallory' }))
  const after = openSupervision({ store: before.store })

  await expect(after.sessions.attach(window('b', { owner: 'mallory' }))).rejects.toMatchObject({ code: 'forbidden' })
  await expect(after.sessions.attach(window('a', { owner: 'mallory', sessionId }))).rejects.toMatchObject({
    code: 'forbidden',
  })
})

test('without a list of operators every name may own sessions, with one only those that it names', () => {
  const person = (name: string, local = false) => ({ name, local, admin: false, console: null, group: null })
  const known = (...people: ReturnType<typeof person>[]) => {
    const { isKnown } = configuredOperators(people)
    return ['ann', 'mallory', 'local_user'].filter((name) => isKnown(name))
  }

  expect(known()).toEqual(['ann', 'mallory', 'local_user'])
  // What the settings say where nobody is named.
  expect(known(person('local_user', true))).toEqual(['ann', 'mallory', 'local_user'])
  expect(known(person('ann'))).toEqual(['ann', 'local_user'])
  expect(known(person('ann'), person('bob'))).toEqual(['ann'])
  expect(known(person('ann', true), person('bob'))).toEqual(['ann', 'local_user'])
  expect(known(person('ann'), person('operator'))).toEqual(['ann', 'local_user'])
})

test('members of a group of an identity provider are operators, and admins where the group is', () => {
  const ann = { name: 'ann', logins: ['corp:ann@example.com'], local: true, admin: true, console: null, group: null }
  const groups = [
    { group: 'sre', admin: false },
    { group: 'platform', admin: true },
  ]
  const operators = configuredOperators([ann], [{ afterMs: 60_000, to: ['sre'] }], groups)
  const bob = { groups: ['sre', 'staff'] }

  expect(operators.personOf('corp:ann@example.com')).toBe('ann')
  expect(operators.isAdmin('corp:ann@example.com', { groups: [] })).toBe(true)
  expect([operators.isKnown('corp:bob', bob), operators.isAdmin('corp:bob', bob)]).toEqual([true, false])
  expect(operators.isAdmin('corp:eve', { groups: ['platform'] })).toBe(true)
  expect(operators.isAdmin('corp:eve', { isAdmin: true })).toBe(true)
  expect([operators.isKnown('corp:eve', { groups: ['staff'] }), operators.isKnown('corp:eve', {})]).toEqual([
    false,
    false,
  ])
  expect(operators.isAdmin('corp:eve', { groups: ['staff'] })).toBe(false)
  // Whose sessions are theirs is only a name. What they may do shows when they are here.
  expect([operators.isKnown('corp:eve'), operators.isKnown('eve')]).toEqual([true, false])
  expect([59_999, 60_000].map((waited) => operators.standsIn('corp:bob', waited, bob))).toEqual([false, true])
  expect(operators.standsIn('corp:eve', 60_000, { groups: ['staff'] })).toBe(false)
})

test('no agent works in the session that stands for a workspace, and nobody commands it', async () => {
  const { sessions } = openSupervision()
  const { id } = await sessions.ofWorkspace('ann', '/srv/here')
  const missing = { code: 'session_not_found' }

  await expect(sessions.attach(agentIn('/srv/here', { sessionId: id }))).rejects.toMatchObject(missing)
  await expect(sessions.resume(ann, id)).rejects.toMatchObject(missing)
  await expect(sessions.terminate(ann, id)).rejects.toMatchObject(missing)
  await expect(sessions.handOver(root, id, 'eve')).rejects.toMatchObject(missing)
  expect(await sessions.get(id)).toMatchObject({
    owner: 'ann',
    supervision: { status: 'interrupted', connectionId: null },
  })
})

test('a workspace whose session was deleted gets another one', async () => {
  const { sessions, store } = openSupervision()
  const first = await sessions.ofWorkspace('ann', '/srv/here')
  await store.commit([{ type: 'delete_session', sessionId: first.id, now: 1 }])
  const second = await sessions.ofWorkspace('ann', '/srv/here')

  expect(second.id).not.toBe(first.id)
  expect((await sessions.ofWorkspace('ann', '/srv/here')).id).toBe(second.id)
})
