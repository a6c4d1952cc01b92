// Operators and the sessions of hosted agents: a real server, the scripted ACP agent, and ctl as a process of its own.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHostedHouse, type Row, scripted, until } from './hosted-house.ts'

const LONG = { timeout: 300_000 }

test(
  'terminate ends the program, cancels what runs, waits and is queued, and interrupts its approvals',
  LONG,
  async () => {
    await using house = await openHostedHouse()
    const waiting = await house.say('one', 'ask-run rm -rf build')
    const working = await house.say('two', 'say begun\nhang')
    const queued = await house.say('two', 'say later')
    await house.until(waiting, 'waiting')
    // Two processes each: the sandbox, and the agent in it.
    await until(async () => (await house.programs()).length === 4)
    const { supervision: one } = await house.session('one')
    const { supervision: two } = await house.session('two')
    expect([one.status, two.status]).toEqual(['active', 'active'])

    expect(await house.ctl('terminate', '--yes', '--session', one.session_id)).toMatchObject({ code: 0 })
    expect(await house.ctl('terminate', '--yes', '--session', two.session_id)).toMatchObject({ code: 0 })

    const ends = [waiting, working, queued].map((id) => house.until(id, 'cancelled', 'failed', 'completed'))
    expect((await Promise.all(ends)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect((await house.approvals('all')).map(({ status }) => status)).toEqual(['interrupted'])
    expect(await house.inbox()).toEqual([])
    const refused = await house.call('POST', '/sessions/one/messages', { message: 'say more' })
    expect([refused.status, refused.body.code]).toEqual([409, 'session_ended'])
    await until(async () => (await house.programs()).length === 0)
  },
)

test('a paused session takes no message and its agent is refused what it asks, until it is resumed', LONG, async () => {
  await using house = await openHostedHouse()
  const asked = await house.say('one', 'ask-run rm -rf build\nask-run rm -rf dist\nsay end')
  await house.until(asked, 'waiting')
  const [first] = await house.approvals()
  expect(await house.ctl('pause')).toMatchObject({ code: 0 })

  const refused = await house.call('POST', '/sessions/one/messages', { message: 'say more' })
  expect([refused.status, refused.body.code]).toEqual([409, 'session_paused'])
  // What was asked before is answered. What it asks after that is refused, and nobody is asked.
  const { body } = await house.call('POST', `/approvals/${first?.approval_id}`, { decision: 'reject' })
  await house.until(body.continuation_run_id, 'completed')
  expect(await house.said('one')).toContain('end')
  expect((await house.approvals('all')).map(({ status }) => status)).toEqual(['rejected'])
  expect((await house.session('one')).supervision.status).toBe('paused')

  expect(await house.deciding('resume')).toMatchObject({ code: 0 })
  const next = await house.say('one', 'How are you?')
  await house.until(next, 'completed')
  expect(await house.said('one')).toContain('Your operator had paused this session')
})

test(
  'ctl start begins a session of any host, in a workspace of the settings, and people go on with it',
  LONG,
  async () => {
    const host = { host_cli: scripted.command, host_cli_args: scripted.args }
    await using house = await openHostedHouse({ settings: { ...host, max_concurrent_sessions: 1 } })
    expect(await house.ctl('passphrase', '--passphrase-fd', '3')).not.toMatchObject({ code: 0 })
    expect(await house.deciding('passphrase')).toMatchObject({ code: 0 })

    const started = await house.deciding(
      'start',
      'write new.txt made',
      '--workspace',
      'shop',
      '--title',
      'New',
      '--json',
    )
    const { session_id: id, host: name, owner_user_id: owner } = JSON.parse(started.out)
    expect([name, owner]).toEqual(['custom', 'local_user'])
    const [changes] = await until(async () => ((await house.approvals()).length > 0 ? house.approvals() : null))
    expect([changes?.kind, changes?.title]).toEqual(['changes', 'Create new.txt +1 −0'])
    const { supervision, messages } = await house.session(id)
    expect(supervision).toMatchObject({
      status: 'active',
      title: 'New',
      prompt: 'write new.txt made',
      pid: expect.any(Number),
    })
    expect(messages[0]).toMatchObject({ role: 'user', content: 'write new.txt made' })

    // The agent that it works with has no folder of its own, so nobody else can begin with it.
    const others = [
      await house.call('POST', '/sessions/other/messages', { message: 'pwd', agent: 'host:custom' }),
      await house.call('POST', `/sessions/${id}/messages`, { message: 'pwd', agent: 'coder' }),
      await house.call('POST', '/sessions', { prompt: 'x', workspace: 'shop' }),
      await house.call('POST', '/sessions', { prompt: 'x', workspace: '/usr' }),
      await house.call('POST', '/sessions', { prompt: 'x', workspace: 'shop', host: 'claude' }),
    ]
    expect(others.map(({ body }) => body.code)).toEqual([
      'agent_not_found',
      'invalid_request',
      'limit',
      'forbidden',
      'conflict',
    ])
    expect(others[4]?.body.detail).toContain('npm install -g @agentclientprotocol/claude-agent-acp')
    expect((await house.call('GET', '/agents')).body.agents.map((one: Row) => one.name)).toEqual(['coder'])

    expect(await house.deciding('approve', changes?.approval_id, '--digest', changes?.digest)).toMatchObject({
      code: 0,
    })
    await until(() => existsSync(join(house.shop, 'new.txt')))
    const next = await house.say(id, 'pwd')
    await house.until(next, 'completed')
    expect(await house.said(id)).toContain(house.shop)
    // One that rests makes way.
    expect((await house.call('POST', '/sessions', { prompt: 'say hi', workspace: 'shop' })).status).toBe(201)
    await until(async () => (await house.session(id)).supervision.status === 'interrupted')
  },
)

test('a hosted agent that hangs raises an alert, and a nudge is its next prompt', LONG, async () => {
  const stall = { inactivity_threshold_seconds: 1, escalation_threshold_seconds: 5, default_nudge_message: 'say awake' }
  await using house = await openHostedHouse({ settings: { stall } })
  const run = await house.say('one', 'say begun\nhang')
  await house.until(run, 'completed')
  expect(await house.said('one')).toContain('awake')
  const { alerts } = (await house.call('GET', '/alerts?status=all')).body
  expect(alerts).toHaveLength(1)
  expect(alerts[0]).toMatchObject({ status: 'self_recovered', nudged_by: 'a new prompt', nudge_count: 1 })

  // Neither a question that waits nor a turn that ended is silence.
  await house.until(await house.say('one', 'ask-run rm -rf build'), 'waiting')
  await until(async () => (await house.session('one')).supervision.stall_paused)
  const [asked] = await house.approvals()
  const { body } = await house.call('POST', `/approvals/${asked?.approval_id}`, { decision: 'reject' })
  await house.until(body.continuation_run_id, 'completed')
  await until(async () => (await house.session('one')).supervision.stall_paused)
})

test(
  'what operators send reaches the agent after its prompt, in front of its next one, or at once if they ask so',
  LONG,
  async () => {
    await using house = await openHostedHouse()
    const first = await house.say('one', 'ask-run rm -rf build\nsay first')
    await house.until(first, 'waiting')
    expect(await house.ctl('steer', 'say steered')).toMatchObject({ code: 0 })
    const [asked] = await house.approvals()
    const { body } = await house.call('POST', `/approvals/${asked?.approval_id}`, { decision: 'approve' })
    await house.until(body.continuation_run_id, 'completed')
    const { supervision } = await house.session('one')
    expect(await house.said('one')).toContain('steered')
    const { text } = (await house.call('GET', `/runs/${body.continuation_run_id}/events`)).body
    expect(text).toContain('"activityType":"steering","content":{"text":"say steered","by":"operator via ctl"}')

    const id = supervision.session_id
    await house.call('POST', '/workspaces/shop/tasks', { text: 'say task' })
    await house.ctl('steer', 'say later', '--session', id)
    const next = await house.say('one', 'What now?')
    await house.until(next, 'completed')
    expect(await house.said('one')).toMatch(/say task[\s\S]*say later[\s\S]*What now/)

    expect(await house.ctl('steer', 'say now', '--now', '--session', id)).toMatchObject({ code: 0 })
    await until(async () => (await house.said('one')).includes('): say now'))
    expect(await house.ctl('nudge', 'say up', '--session', id)).toMatchObject({ code: 0 })
    await until(async () => (await house.said('one')).includes('up'))
  },
)

test('a restore brings the real workspace back, and the agent sees it in the session that goes on', LONG, async () => {
  await using house = await openHostedHouse()
  const first = await house.say('one', 'cat a.txt')
  await house.until(first, 'completed')
  const { session_id: id } = (await house.session('one')).supervision
  expect(await house.ctl('checkpoint', 'before', '--session', id)).toMatchObject({ code: 0 })
  writeFileSync(join(house.shop, 'a.txt'), 'changed')
  await house.until(await house.say('one', 'cat a.txt'), 'completed')
  expect(await house.said('one')).toContain('changed')

  const [{ checkpoint_id: checkpoint }] = (await house.call('GET', '/checkpoints')).body.checkpoints
  const { body: plan } = await house.call('POST', `/checkpoints/${checkpoint}/restore`, {})
  const { status, body } = await house.call('POST', `/checkpoints/${checkpoint}/restore`, { confirm: plan.digest })
  expect([status, house.read('a.txt')]).toEqual([200, 'one\ntwo\n'])
  expect(body.session).toMatchObject({ restored_from: checkpoint, status: 'interrupted', host: 'custom' })
  expect((await house.session('one')).supervision.status).toBe('terminated')
  const next = body.session.session_id
  await house.until(await house.say(next, 'cat a.txt'), 'completed')
  expect(await house.said(next)).toContain('one\ntwo')
})

test('ctl answers what hosted agents ask: a permission, changes and a question; only operators may', LONG, async () => {
  await using house = await openHostedHouse()
  expect(await house.deciding('passphrase')).toMatchObject({ code: 0 })
  const { body: made } = await house.call('POST', '/tokens', { role: 'user', user: 'bob' })
  const { body: begun } = await house.call(
    'POST',
    '/sessions/bobs/messages',
    { message: 'ask-run rm -rf build' },
    made.token,
  )
  await house.until(begun.run_id, 'waiting')
  const [asked] = await house.approvals()
  const refused = await house.call('POST', `/approvals/${asked?.approval_id}`, { decision: 'approve' }, made.token)
  expect([refused.status, refused.body.code, asked?.answerable_by]).toEqual([403, 'forbidden', 'operator'])
  expect((await house.ctl('list')).out).toContain('Run rm -rf build')
  expect(await house.deciding('reject', asked?.approval_id, '--reason', 'No deletes.')).toMatchObject({ code: 0 })
  // The protocol takes no reason with a no, so the agent hears it as its next prompt.
  await until(async () =>
    (await house.call('GET', '/sessions/bobs', undefined, made.token)).body.messages.some((one: Row) =>
      String(one.content).includes('Their reason: No deletes.'),
    ),
  )

  await house.until(await house.say('two', 'write a.txt three'), 'waiting')
  const [changes] = await house.approvals()
  expect((await house.ctl('show', changes?.approval_id)).out).toContain('+three')
  expect(await house.deciding('reject', changes?.approval_id, '--reason', 'Keep two lines.')).toMatchObject({ code: 0 })
  await until(async () => (await house.said('two')).includes('Their reason: Keep two lines.'))
  expect([house.read('a.txt'), await house.approvals()]).toEqual(['one\ntwo\n', []])

  await house.until(await house.say('three', 'elicit Which size?|S|L'), 'waiting')
  const [question] = await house.approvals()
  const answer = ['answer', question?.approval_id, '--set', 'answer=L', '--digest', question?.digest]
  expect(await house.deciding(...answer)).toMatchObject({ code: 0 })
  await until(async () => (await house.said('three')).includes('accept: {"answer":"L"}'))
})

test(
  'a program that rests ends after the time of its session, or with a server that is killed; a limit ends a run by name',
  LONG,
  async () => {
    await using house = await openHostedHouse({ agent: { sessions: { ttl: '1s' }, limits: { duration: '20s' } } })
    await house.until(await house.say('one', 'pid'), 'completed')
    expect((await house.session('one')).supervision.pid).toEqual(expect.any(Number))
    await until(async () => (await house.programs()).length === 0)
    expect((await house.session('one')).supervision).toMatchObject({ status: 'interrupted', pid: null })
    const { body: usage } = await house.call('GET', '/usage')
    expect(usage.total).toMatchObject({ runs: 1, cost: null })

    const long = await house.until(await house.say('one', 'hang'), 'failed')
    expect(long.error).toMatchObject({ code: 'budget_exceeded', message: expect.stringContaining('limits.duration') })

    await house.until(await house.say('two', 'ask-run rm -rf build'), 'waiting')
    await house.kill()
    await until(async () => (await house.programs()).length === 0)
    await house.restart()
    await until(async () => (await house.session('two')).supervision.status === 'interrupted')
    expect(await house.approvals()).toHaveLength(1)
    const { session_id: id } = (await house.session('two')).supervision
    expect(await house.ctl('terminate', '--yes', '--session', id)).toMatchObject({ code: 0 })
    expect(await house.approvals('all')).toMatchObject([{ status: 'interrupted' }])
  },
)

test(
  'a hosted session moves to another server with what it waits for, and its program is told what was said',
  LONG,
  async () => {
    await using house = await openHostedHouse()
    await house.until(await house.say('one', 'say The word is ship.'), 'completed')
    await house.until(await house.say('one', 'ask-run rm -rf build'), 'waiting')
    await house.until(await house.say('two', 'write a.txt three'), 'waiting')
    await house.kill('SIGTERM')
    const from = await house.command('sessions', 'export', '--all', '-o', 'all.jsonl')
    expect(from).toMatchObject({ code: 0, err: expect.stringContaining('Exported 2 sessions') })
    const to = ['--data-dir', join(house.root, 'moved')]
    expect(await house.command('sessions', 'import', '--all', 'all.jsonl', ...to)).toMatchObject({ code: 0 })
    expect(await house.command('sessions', 'compare', 'all.jsonl', ...to)).toMatchObject({ code: 0 })

    await house.restart(...to)
    const waiting = await house.approvals()
    expect(waiting.map(({ kind }) => kind).sort()).toEqual(['changes', 'permission'])
    const [permission, changes] = ['permission', 'changes'].map((kind) => waiting.find((one) => one.kind === kind))
    const { body } = await house.call('POST', `/approvals/${permission?.approval_id}`, { decision: 'approve' })
    await house.until(body.continuation_run_id, 'completed')
    expect(await house.said('one')).toContain('You: The word is ship.')
    const { body: decided } = await house.call('POST', `/approvals/${changes?.approval_id}`, { decision: 'approve' })
    await house.until(decided.continuation_run_id, 'completed')
    expect(house.read('a.txt')).toBe('three')
  },
)
