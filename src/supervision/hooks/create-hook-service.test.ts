import { expect, test } from 'vitest'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import type { HookAgent, HookCall, HookEvent } from './hook-service.ts'

const source = { host: 'claude', hostSessionId: 'host-1', cwd: '' } as const
const bash: HookCall = {
  ...source,
  event: 'permission',
  toolName: 'Bash',
  input: { command: 'git push' },
  toolUseId: 'toolu_1',
  isOwn: false,
  command: 'git push',
}
const { command: _, ...bare } = bash
const read: HookCall = { ...bare, toolName: 'Read', input: { file_path: 'a.txt' } }
const todos: HookCall = { ...bare, toolName: 'TodoWrite', input: { todos: [] } }

function open(policy: object | null = null) {
  const file = policy === null ? {} : { '.quarterdeck/policy.json': JSON.stringify(policy) }
  const workspace = makeWorkspace({ 'a.txt': 'a', ...file })
  const service = openSupervision({ allowlist: [['npm', 'test']] })
  const agent: HookAgent = { owner: 'ann', tokenId: 'token-agent', workspace }
  const options = { signal: new AbortController().signal, limitMs: 50_000 }
  return {
    ...service,
    workspace,
    ask: (call: Partial<HookCall> = {}, base: HookCall = bash) =>
      service.hooks.permission(agent, { ...base, ...call }, options),
    report: (event: HookEvent['event'], reason = '', more = {}) =>
      service.hooks.report(agent, { ...source, event, reason, ...more }),
    /** A call over MCP from a window of the host. */
    async connect(connectionId: string): Promise<string> {
      const beat = await service.answerCall(
        callOf(agentIn(workspace, { connectionId })),
        'heartbeat',
        {},
        async () => ({}),
      )
      return String(beat.answer.session_id)
    },
  }
}

test('a hook asks in the session of its window', async () => {
  const service = open()
  const first = await service.connect('window-1')
  const answer = service.ask()
  const asked = await service.nextWaiting()
  await service.approvals.decide(ann, asked.id, { decision: 'approve' })
  expect([asked.sessionId, await answer]).toEqual([first, { behavior: 'allow' }])

  await service.clock.advance(1_000)
  const second = await service.connect('window-2')
  const other = service.ask({ hostSessionId: 'host-2', input: { command: 'git push --tags' } })
  const next = await service.nextWaiting()
  await service.approvals.decide(ann, next.id, { decision: 'approve', arguments: { command: 'git push -n' } })
  expect([next.sessionId, await other]).toEqual([
    second,
    { behavior: 'allow', updatedInput: { command: 'git push -n' } },
  ])

  await service.sessions.pause(ann, first)
  expect(await service.ask()).toMatchObject({ behavior: 'deny', message: expect.stringContaining('paused') })
})

test('without a window the hook opens a session, and finds it again', async () => {
  const service = open()
  const answer = service.ask()
  const { id, sessionId } = await service.nextWaiting()
  await service.approvals.decide(ann, id, { decision: 'reject' })
  expect(await answer).toMatchObject({ behavior: 'deny' })

  expect(await service.ask({}, read)).toEqual({ behavior: 'allow' })
  expect((await service.sessions.list({ limit: 10 })).map((one) => one.id)).toEqual([sessionId])
})

test('a window that asks through its hook first has one session', async () => {
  const service = open()
  const answer = service.ask()
  const { id, sessionId } = await service.nextWaiting()

  expect(await service.connect('window-1')).toBe(sessionId)
  await service.approvals.decide(ann, id, { decision: 'approve' })
  expect(await answer).toEqual({ behavior: 'allow' })
  const other = await service.connect('window-2')
  expect((await service.sessions.list({ limit: 10 })).map((one) => one.id).toSorted()).toEqual(
    [sessionId, other].toSorted(),
  )
})

test('of two windows that connect at the same time, one has the session that began with the hook', async () => {
  const service = open()
  await service.ask({}, read)

  const connected = await Promise.all([service.connect('window-1'), service.connect('window-2')])

  expect(await Promise.all([service.connect('window-1'), service.connect('window-2')])).toEqual(connected)
  expect(await service.sessions.list({ limit: 10 })).toHaveLength(2)
})

test('a window that could be either of two that asked gets a session of its own', async () => {
  const service = open()
  const asked = ['host-1', 'host-2'].map((hostSessionId) => service.ask({ hostSessionId }, todos))
  expect(await Promise.all(asked)).toEqual([{ behavior: 'pass' }, { behavior: 'pass' }])

  await service.connect('window-1')

  expect(await service.sessions.list({ limit: 10 })).toHaveLength(3)
})

test('a yes for a command counts in the folder that the person saw', async () => {
  const service = open()
  await service.connect('window-1')
  const folder = `${service.workspace}/build`
  const first = service.ask({ cwd: folder })
  const asked = await service.nextWaiting()
  expect(asked).toMatchObject({ description: `Tool: Bash\ngit push\nIn the folder ${folder}` })
  await service.passTime(50_000)
  expect(await first).toMatchObject({ behavior: 'deny' })
  await service.approvals.decide(ann, asked.id, { decision: 'approve' })

  const elsewhere = service.ask({ cwd: `${service.workspace}/src` })
  const other = await service.nextWaiting()
  expect(other).toMatchObject({ description: `Tool: Bash\ngit push\nIn the folder ${service.workspace}/src` })
  await service.approvals.decide(ann, other.id, { decision: 'reject' })
  expect(await elsewhere).toMatchObject({ behavior: 'deny' })
  expect(await service.ask({ cwd: folder })).toEqual({ behavior: 'allow' })
})

test('a command runs where the model says, and is judged there', async () => {
  const service = open()
  const call = { host: 'gemini', toolName: 'run_shell_command', command: 'ls' } as const
  expect(await service.ask({ ...call, input: { command: 'ls', dir_path: '.' } })).toEqual({ behavior: 'allow' })

  const outside = service.ask({ ...call, input: { command: 'ls', dir_path: '/etc' } })
  const asked = await service.nextWaiting()
  expect(asked).toMatchObject({ risk: 'high', description: 'Tool: run_shell_command\nls\nIn the folder /etc' })
  await service.approvals.decide(ann, asked.id, { decision: 'reject' })
  await outside
  const unclear = service.ask({ ...call, input: { command: 'ls', dir_path: '.', cwd: '/etc' } })
  await service.approvals.decide(ann, (await service.nextWaiting()).id, { decision: 'reject' })
  await unclear
})

test('what only the host shows is left to its own rules', async () => {
  expect(await open().ask({}, todos)).toEqual({ behavior: 'pass' })
})

test('what nobody is asked about does not overrule what the user of the host denies', async () => {
  const service = open()
  expect(await service.ask({}, read)).toEqual({ behavior: 'allow' })
  // Copilot CLI takes an allow for more than its own rules.
  const inCopilot: Partial<HookCall> = { host: 'copilot', hostSessionId: 'host-2' }
  expect(await service.ask({ ...inCopilot, input: { path: 'a.txt' } }, read)).toEqual({ behavior: 'pass' })
  const pushes = service.ask(inCopilot)
  await service.approvals.decide(ann, (await service.nextWaiting()).id, { decision: 'approve' })
  expect(await pushes).toEqual({ behavior: 'allow' })
})

test('the policy covers no command in another folder, however the host names it', async () => {
  const service = open({ enabled: true, commands: ['npm test'], tools: ['run_it'] })
  const first = service.ask()
  for (const _what of ['the policy file', 'the call']) {
    await service.approvals.decide(ann, (await service.nextWaiting()).id, { decision: 'approve' })
  }
  await first
  const run = { toolName: 'run_it', input: { script: 'npm test' } }
  expect(await service.ask(run, bare)).toEqual({ behavior: 'allow' })

  const elsewhere = service.ask({ ...run, cwd: `${service.workspace}/build` }, bare)
  const asked = await service.nextWaiting()
  expect(asked).toMatchObject({ title: 'Run npm test' })
  await service.approvals.decide(ann, asked.id, { decision: 'reject' })
  expect(await elsewhere).toMatchObject({ behavior: 'deny' })
})

test('two windows that only have hooks are two sessions', async () => {
  const service = open()
  await service.ask({}, read)
  await service.ask({ hostSessionId: 'host-2' }, read)

  const sessions = await service.sessions.list({ limit: 10 })
  expect(sessions.map(({ supervision }) => supervision.connectionId).toSorted()).toEqual([
    'hook:claude:host-1',
    'hook:claude:host-2',
  ])
})

test('our own tools are let through, because the service checks each call by itself', async () => {
  const service = open()

  expect(await service.ask({ isOwn: true, toolName: 'mcp__quarterdeck__heartbeat' })).toEqual({ behavior: 'allow' })
})

test('the end of the host’s session ends ours, and what it asked', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  const answer = service.ask()
  await service.nextWaiting()

  expect(await service.report('session_end', 'exit')).toEqual({})

  expect(await answer).toMatchObject({ behavior: 'deny' })
  expect((await service.sessions.get(sessionId)).supervision.status).toBe('terminated')
  expect(await service.report('session_end', 'exit')).toEqual({})
  expect(await service.connect('window-1')).not.toBe(sessionId)
})

test('the end of the host’s session also ends one that was interrupted', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  await service.report('session_start', 'startup')
  await service.sessions.interrupt(sessionId, 'Nobody has heard from it.')

  await service.report('session_end', 'exit')

  expect((await service.sessions.get(sessionId)).supervision.status).toBe('terminated')
})

test('a new window takes up the session of a closed one, by a hook or a call, and has one session with one name', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  await service.ask({}, read)
  await service.sessions.goodbye('window-1')

  await service.ask({ hostSessionId: 'host-2' }, read)
  expect(await service.connect('window-2')).toBe(sessionId)
  await service.ask({ hostSessionId: 'host-2' }, read)
  // The first window is still there after all. It has lost its session to the second.
  await service.ask({}, read)

  const sessions = await service.sessions.list({ limit: 10 })
  expect(sessions.map(({ supervision }) => supervision.connectionId).toSorted()).toEqual([
    'hook:claude:host-1',
    'window-2',
  ])
  await service.report('session_end', 'exit', { hostSessionId: 'host-2' })
  expect((await service.sessions.get(sessionId)).supervision.status).toBe('terminated')
})

test.each(['hook', 'call'] as const)(
  'a host that starts its bridge anew goes on in its session, whether a %s comes first',
  async (first) => {
    const service = open()
    const sessionId = await service.connect('window-1')
    await service.ask({}, read)
    await service.sessions.goodbye('window-1')
    if (first === 'hook') await service.ask({}, read)

    expect(await service.connect('window-2')).toBe(sessionId)
    await service.ask({}, read)
    expect(
      (await service.sessions.list({ limit: 10 })).map(({ id, supervision: { connectionId } }) => [id, connectionId]),
    ).toEqual([[sessionId, 'window-2']])
  },
)

test('the hooks of a paused window stay refused when its bridge has said goodbye', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  await service.ask({}, read)
  await service.sessions.pause(ann, sessionId)
  await service.sessions.goodbye('window-1')

  expect(await service.ask()).toMatchObject({ behavior: 'deny', message: expect.stringContaining('paused') })
})

test('what does not fit into one reply comes with the next', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  const texts = ['a', 'b', '\u{1f4a1}'].map((char) => char.repeat(4_000))
  for (const text of texts) await service.sessions.steer(ann, sessionId, text)

  expect(await service.report('notification', 'stop')).toEqual({ text: `${texts[0]}\n\n${texts[1]}` })
  expect(await service.report('notification', 'stop')).toEqual({ text: texts[2] })
  expect(await service.report('notification', 'stop')).toEqual({})
})

test('an agent that stops gets what its operator wrote, once', async () => {
  const service = open()
  const sessionId = await service.connect('window-1')
  await service.report('session_start', 'startup')
  await service.sessions.steer(ann, sessionId, 'Also update the docs.')

  expect(await service.report('notification', 'idle')).toEqual({})
  expect(await service.report('notification', 'stop')).toEqual({ text: 'Also update the docs.' })
  expect(await service.report('notification', 'stop')).toEqual({})
  expect(await service.store.supervised.instructions({ sessionId, isWaiting: true, limit: 10 })).toEqual([])
})

test('a hook that reaches another server asks in the session of its window', async () => {
  const service = open()
  const [first, second] = [await service.connect('window-1'), await service.connect('window-2')]
  const agent: HookAgent = { owner: 'ann', tokenId: 'token-agent', workspace: service.workspace }
  const options = { signal: new AbortController().signal, limitMs: 50_000 }
  const asked = async (answer: Promise<unknown>) => {
    const { id, sessionId } = await service.nextWaiting()
    await service.approvals.decide(ann, id, { decision: 'reject' })
    await answer
    return sessionId
  }

  const here = await asked(service.ask())
  const there = await asked(service.otherHooks.permission(agent, bash, options))
  const other = await asked(service.otherHooks.permission(agent, { ...bash, hostSessionId: 'host-2' }, options))
  expect([here, there, other]).toEqual([second, second, first])
})
