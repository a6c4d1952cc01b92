// Operators and the sessions of hosted agents: a real server, the scripted ACP agent, and ctl as a process of its own.

import { expect, test } from 'vitest'
import { openHostedHouse, until } from './hosted-house.ts'

const LONG = { timeout: 60_000 }

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
