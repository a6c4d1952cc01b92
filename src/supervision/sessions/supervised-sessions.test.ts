import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisedStatus } from '../../domain/supervision.ts'
import { agentIn, ann, eve, openDesk, root } from '../testing/open-desk.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { configuredOperators } from './configured-operators.ts'
import type { AgentIdentity } from './supervised-sessions.ts'

const here = agentIn('/srv/here')
const window = (connectionId: string | null, values: Partial<AgentIdentity> = {}) => ({
  ...here,
  connectionId,
  ...values,
})

test('two windows of one host are two sessions, and a window keeps its own', async () => {
  const { sessions } = openDesk()
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

test('a call without a connection belongs to the one open session of its token, and several are listed', async () => {
  const { sessions } = openDesk()
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
  const { sessions } = openDesk()
  const { id: sessionId } = await sessions.attach(window('a'))
  const foreign = { sessionId, tokenId: 'token-eve', owner: 'eve' }

  await expect(sessions.attach(window('x', foreign))).rejects.toMatchObject({ code: 'session_not_found' })
  await expect(sessions.attach(window('x', { sessionId, workspaceRoot: '/srv/there' }))).rejects.toMatchObject({
    code: 'session_not_found',
  })
})

test('the limit of open sessions names them, and counts one that comes back', async () => {
  const { sessions } = openDesk({ maxOpen: 2 })
  const first = await sessions.attach(window('a'))
  await sessions.interrupt(first.id, 'gone')
  const second = await sessions.attach(window('b'))
  await sessions.attach(window('c'))
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
  const { sessions } = openDesk()
  const { id } = await sessions.attach(window('a'))
  if (from === 'paused') await sessions.pause(ann, id)
  if (from === 'interrupted') await sessions.interrupt(id, 'gone')
  const act = { pause: sessions.pause, resume: sessions.resume, terminate: sessions.terminate }[verb]

  expect((await act?.(ann, id))?.supervision.status).toBe(to)
  // Saying it twice is no error.
  expect((await act?.(ann, id))?.supervision.status).toBe(to)
})

test('a terminated session stays terminated, and an agent that names it is told', async () => {
  const { sessions } = openDesk()
  const { id } = await sessions.attach(window('a'))
  await sessions.terminate(ann, id)

  await expect(sessions.resume(ann, id)).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.steer(ann, id, 'Hi')).rejects.toMatchObject({ code: 'session_ended' })
  await expect(sessions.attach(window('a', { sessionId: id }))).rejects.toMatchObject({ code: 'session_ended' })
})

test('only the owner and an admin command a session; another operator sees it', async () => {
  const { sessions, audit } = openDesk()
  const { id } = await sessions.attach(window('a'))

  await expect(sessions.pause(eve, id)).rejects.toMatchObject({ code: 'forbidden', details: { owner: 'ann' } })
  await expect(sessions.pause({ user: 'ann', role: 'user' }, id)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await sessions.get(id)).supervision.status).toBe('active')
  await sessions.pause(root, id)
  expect((await audit()).at(-1)).toEqual({ kind: 'supervised', by: 'root', what: 'paused', channel: 'http' })
})

test('an admin hands a session over with what is pending, and its agent token still finds it', async () => {
  const { sessions, audit } = openDesk()
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
  const { sessions, clock } = openDesk({ onEnd: ({ id }, text) => told.push([id, text]) })
  const created = await sessions.create(ann, {
    workspaceRoot: '/srv/here',
    host: 'claude',
    prompt: 'Go',
    tokenId: 't',
  })
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

test('a restored session whose agent does not come makes room after 30 s, and its agent still finds it', async () => {
  const { sessions, clock } = openDesk()
  const { workspaceRoot, tokenId } = window('a')
  const made = { workspaceRoot, host: 'claude', prompt: 'Go', tokenId, restoredFrom: 'c1', id: 'chosen' }
  const restored = await sessions.create(ann, made)
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
  const { sessions, events } = openDesk()
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
  const { sessions, takeStep } = openDesk()
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
  const { sessions, store } = openDesk({ workspaces })
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
  const { sessions } = openDesk({ workspaces })

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
  const { sessions } = openDesk({ workspaces })
  const roomOf = async (values: Partial<AgentIdentity> = {}) =>
    (await sessions.attach(window('a', { channelId: null, ...values }))).supervision.channelId
  const { id: sessionId } = await sessions.attach(window('a', { channelId: null }))
  ofWorkspace = 'C2'
  expect([await roomOf(), await roomOf({ sessionId })]).toEqual(['C1', 'C1'])
  channels.delete('C1')

  expect([await roomOf(), await roomOf({ sessionId })]).toEqual(['C2', 'C2'])
})

test('an open session takes no calls when the settings no longer name its workspace', async () => {
  const before = openDesk()
  const { id } = await before.sessions.attach(window('a'))
  const workspaces: Workspaces = {
    find() {
      throw new ServerError('forbidden', 'workspace')
    },
    checkChannel() {},
  }
  const after = openDesk({ store: before.store, workspaces })

  await expect(after.sessions.attach(window('a'))).rejects.toThrow('workspace')
  await expect(after.sessions.attach(window(null, { sessionId: id }))).rejects.toThrow('workspace')
})

test('an agent that was stopped cannot go on in a new session of the same window', async () => {
  const { sessions } = openDesk()
  const { id } = await sessions.attach(window('a'))
  await sessions.terminate(ann, id)

  await expect(sessions.attach(window('a'))).rejects.toMatchObject({ code: 'session_ended' })
  expect((await sessions.attach(window('b'))).supervision.status).toBe('active')
})

test('a window whose session was interrupted comes back to it', async () => {
  const { sessions } = openDesk()
  const { id } = await sessions.attach(window('a'))
  await sessions.interrupt(id, 'gone')

  expect(await sessions.attach(window('a'))).toMatchObject({
    id,
    supervision: { status: 'active', terminatedAt: null },
  })
})

test('a call for another folder does not belong to the open session of its token', async () => {
  const { sessions } = openDesk()
  const first = await sessions.attach(window(null))
  const other = await sessions.attach(window(null, { workspaceRoot: '/srv/here/sub' }))

  expect(other.id).not.toBe(first.id)
  expect(other.supervision.workspaceRoot).toBe('/srv/here/sub')
  expect((await sessions.attach(window(null))).id).toBe(first.id)
})

test('an agent whose stream is open is not lost, however long it is silent', async () => {
  let isConnected = true
  const { sessions, clock } = openDesk({ isConnected: () => isConnected })
  const { id } = await sessions.attach(window('a'))
  await clock.advance(3_600_000)
  await sessions.sweep()
  expect((await sessions.get(id)).supervision.status).toBe('active')
  isConnected = false
  await sessions.sweep()
  expect((await sessions.get(id)).supervision.status).toBe('interrupted')
})

test('a paused session stays paused, however long its agent is silent, and a call does not wake it', async () => {
  const { sessions, clock } = openDesk()
  const { id } = await sessions.attach(window('a'))
  await sessions.pause(ann, id)
  await clock.advance(3_600_000)
  await sessions.sweep()

  expect((await sessions.attach(window('a'))).supervision.status).toBe('paused')
  await sessions.resume(ann, id)
  expect((await sessions.attach(window('a'))).supervision.status).toBe('active')
})

test.each(['', ' \n', 'x'.repeat(4_001)])(
  'steering and tasks have 1 to 4,000 characters, title and name fewer',
  async (text) => {
    const { sessions, store } = openDesk()
    const { id } = await sessions.attach(window('a'))
    const spawned = { workspaceRoot: '/srv/here', host: 'claude', prompt: 'Go', tokenId: 't' }
    const refused = { code: 'invalid_request', message: expect.stringMatching(/of 1 to \d+ characters/) }

    await expect(sessions.steer(ann, id, text)).rejects.toMatchObject(refused)
    await expect(sessions.addTask(ann, id, text)).rejects.toMatchObject(refused)
    await expect(sessions.create(ann, { ...spawned, title: text })).rejects.toMatchObject(refused)
    await expect(sessions.handOver(root, id, text)).rejects.toMatchObject(refused)
    expect(await store.supervised.instructions({ isWaiting: true, limit: 9 })).toEqual([])
    // A character that needs two code units counts once.
    expect((await sessions.steer(ann, id, '🚢'.repeat(4_000))).deliveredAt).toBe(null)
  },
)

test('a token of somebody who is not an operator opens no session, and none of before goes on', async () => {
  const before = openDesk({ operators: configuredOperators([]) })
  const { id: sessionId } = await before.sessions.attach(window('a', { owner: 'mallory' }))
  const after = openDesk({ store: before.store })

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

  expect(operators.personOf?.('corp:ann@example.com')).toBe('ann')
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
  expect([59_999, 60_000].map((waited) => operators.standsIn?.('corp:bob', waited, bob))).toEqual([false, true])
  expect(operators.standsIn?.('corp:eve', 60_000, { groups: ['staff'] })).toBe(false)
})
