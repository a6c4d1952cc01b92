import { expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { sameForEveryRisk } from '../../../domain/supervision/quorum.ts'
import { openProofs } from '../../../http/auth/console/testing/open-proofs.ts'
import { ann, root } from '../../../supervision/testing/open-supervision.ts'
import { OTHER_ROOM, people, ROOM, TEAM } from './testing/open-answers.ts'
import { openElsewhere, openOwn } from './testing/open-records.ts'

test('a second confirmation is for one person, one version and five minutes', async () => {
  const { slack, ask, pass, services } = openElsewhere({ risk: 'high' })
  const { id, ts } = await ask('diff')
  await slack.press('ann', ts, 'approve')
  expect(slack.told('ann')).toEqual([
    expect.stringMatching(/Risk high · Approve it\? For claude-code\.\n(.*\n)*\[Yes, approve\] \[No\]$/),
  ])
  // Nothing has changed for anybody else.
  expect(slack.versions(ts)).toHaveLength(1)

  await pass(5 * 60_000)
  await slack.pressOwn('ann', 'confirm:approve')
  expect(slack.told('ann')).toEqual(['This question is too old. Nothing was decided: begin again with the card.'])

  await slack.press('ann', ts, 'approve')
  await services.approvals.decide(root, id, { decision: 'approve', content: 'one\nfour\n' }).catch(() => {})
  await slack.pressOwn('ann', 'confirm:approve')
  expect(slack.told('ann').at(-1)).toContain('It has changed since you saw it.')
  // The card has the new version by now, and its buttons are for that one.
  expect(slack.versions(ts).at(-1)).toContain('four')
  await slack.press('ann', ts, 'approve')
  await slack.pressOwn('ann', 'confirm:approve')
  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'ann', supervised: { isEdited: true } })
  expect((await services.audit()).filter(({ kind }) => kind === 'shown')).toMatchObject([
    { by: 'ann', surface: 'slack', approval: id, credential: people.ann },
  ])
})

test('a confirmation in the hands of somebody else is refused', async () => {
  const { slack, ask } = openElsewhere({ risk: 'critical' })
  const { id, ts } = await ask('diff')
  await slack.press('ann', ts, 'approve')
  const value = slack.buttons.value({
    ...{ room: ROOM, recordId: id, action: 'confirm:approve', user: people.ann },
    digest: (await slack.find(id))?.wait === 'approval' ? 'd' : null,
  })
  const action = { type: 'button', action_id: 'quarterdeck:confirm:approve', value, action_ts: '1.1' }
  const press = {
    type: 'block_actions',
    user: { id: people.root, team_id: TEAM },
    team: { id: TEAM },
    channel: { id: ROOM },
    container: { message_ts: '1.0', channel_id: ROOM },
    actions: [action],
  }
  await slack.hand('interactive', press)
  // Nobody made a confirmation without a person.
  const free = { ...action, value: slack.buttons.value({ room: ROOM, recordId: id, action: 'confirm:approve' }) }
  await slack.hand('interactive', { ...press, actions: [{ ...free, action_ts: '1.2' }] })

  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  const forged = { by: 'slack:U0ROOT', tried: 'confirm:approve', why: 'forged', record: id }
  expect(await slack.refused()).toMatchObject([forged, forged])
})

test('No decides nothing, and yes can still be said', async () => {
  const { slack, id, ts, calls } = await openOwn('tool_call')
  await slack.press('ann', ts, 'approve')
  await slack.pressOwn('ann', 'cancel')
  expect(slack.told('ann')).toEqual(['Nothing was decided.'])
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  await slack.press('ann', ts, 'approve')
  await slack.pressOwn('ann', 'confirm:approve')

  expect(await slack.find(id)).toMatchObject({ decidedBy: 'ann' })
  expect(calls.length).toBeLessThanOrEqual(1)
})

test('a yes can be remembered after a second look, as the server offers it', async () => {
  const { slack, id, ts, engine } = await openOwn('tool_call')
  await slack.press('ann', ts, 'remember')
  expect(slack.told('ann')).toEqual([
    expect.stringMatching(
      /Approve, and allow from now on\? For (.*\n)+1\. The same call\n\[1 in this session\] \[1 for 15 minutes\] \[1 always, until revoked\]\n\[No\]$/,
    ),
  ])
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  await slack.pressOwn('ann', 'remember:0:15m')

  expect(await slack.find(id)).toMatchObject({ decidedBy: 'ann' })
  expect(await engine.approvals.grants()).toMatchObject([{ approvalId: id, grantedBy: 'ann', sessionId: null }])
})

test('a no can be remembered too, and a yes to what is critical cannot', async () => {
  const critical = openElsewhere({ risk: 'critical' })
  const { ts: sudo } = await critical.ask('permission')
  expect(critical.slack.versions(sudo).at(-1)).toContain('\n[Run as root] [Reject] [Reject and remember …]\n')

  const { slack, ask, services } = openElsewhere()
  const { id, ts } = await ask('permission')
  await slack.press('ann', ts, 'refuse')
  expect(slack.told('ann')).toEqual([
    expect.stringMatching(/Reject, and refuse from now on\? For (.*\n)+1\. (.*\n)+\[No\]$/),
  ])
  await slack.pressOwn('ann', 'refuse:0:workspace')

  expect(await slack.find(id)).toMatchObject({ status: 'rejected', decidedBy: 'ann' })
  expect(await services.approvals.grants()).toMatchObject([{ approvalId: id, grantedBy: 'ann', effect: 'refuse' }])
})

test('a card that was pressed with an old version in view decides nothing', async () => {
  const { slack, ask, services } = openElsewhere()
  const { id, ts } = await ask('diff')
  await services.approvals.decide(root, id, { decision: 'approve', content: 'one\nfour\n' }).catch(() => {})
  await slack.press('ann', ts, 'approve')

  expect(slack.told('ann')).toEqual([
    'It has changed since you saw it. Nothing was decided: look at the card as it is now, then answer again.',
  ])
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.versions(ts).at(-1)).toContain('four')
  await slack.press('ann', ts, 'approve')
  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'ann' })
})

test('with a quorum the first yes counts, and the same person cannot say it twice', async () => {
  const { slack, ask } = openElsewhere({ quorum: sameForEveryRisk(2) })
  const { id, ts } = await ask('diff')
  await slack.press('ann', ts, 'approve')
  expect(slack.told('ann')).toEqual(['Your yes counts. 1 of 2 so far. Somebody else has to say yes too.'])
  expect(slack.versions(ts).at(-1)).toContain('[Approve] [Reject]')
  await slack.press('ann', ts, 'approve')
  expect(slack.told('ann').at(-1)).toContain('You have said yes already. 1 of 2 people have; somebody else has to.')
  await slack.press('root', ts, 'approve')

  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'root' })
  expect(slack.versions(ts).at(-1)).toContain('Yeses: 2 of 2: ann')
})

test('two people at once: one wins, and the other is told so', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts } = await ask('prompt')
  await Promise.all([slack.press('ann', ts, 'continue'), slack.press('root', ts, 'stop')])
  const record = await slack.find(id)
  const loser = record?.decidedBy === 'ann' ? 'root' : 'ann'

  expect(slack.told(loser)).toEqual([expect.stringContaining('It was decided already. Your answer changes nothing.')])
  expect([...slack.told('ann'), ...slack.told('root')]).toHaveLength(1)
  expect(slack.versions(ts).at(-1)).toContain(`by ${record?.decidedBy}`)
})

test('a failure of ours is said, and the card has its buttons again', async () => {
  const { slack, ask, prompts } = openElsewhere()
  const { id, ts } = await ask('prompt')
  const { decide } = prompts
  prompts.decide = async () => {
    throw new ServerError('storage_full', 'The disk is full.')
  }
  await slack.press('ann', ts, 'continue')
  expect(slack.told('ann').at(-1)).toBe('The disk is full.\nNothing was decided by this.')
  prompts.decide = async () => {
    throw new TypeError('undefined is not a function')
  }
  await slack.press('ann', ts, 'continue')
  expect(slack.told('ann').at(-1)).toMatch(/^Something went wrong here. Nothing was decided; try again/)
  expect(slack.told('ann').join()).not.toContain('undefined')
  expect(slack.logged).toMatchObject([{ level: 'error', message: 'an answer from Slack failed' }])
  expect(
    slack
      .versions(ts)
      .slice(1)
      .map((one) => /working on it|\[Continue\]/.exec(one)?.[0]),
  ).toEqual(['working on it', '[Continue]', 'working on it', '[Continue]'])
  prompts.decide = decide
  await slack.press('ann', ts, 'continue')
  expect(await slack.find(id)).toMatchObject({ decision: 'continue' })
})

test('an answer counts also while Slack takes no messages', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts } = await ask('prompt')
  for (const method of ['update', 'whisper', 'respond']) slack.broken.add(method)
  await slack.press('ann', ts, 'stop')
  await slack.press('root', ts, 'stop')

  expect(await slack.find(id)).toMatchObject({ decision: 'stop', decidedBy: 'ann' })
  expect(slack.logged.map(({ message }) => message)).toEqual([
    'somebody in Slack could not be told what became of their answer',
  ])
})

test('a nudge that is pressed twice is sent once, and again after a while', async () => {
  const { slack, ask, nudges, pass } = openElsewhere()
  const { ts, thread } = await ask('alert')
  await slack.press('ann', ts, 'nudge')
  await slack.press('ann', ts, 'nudge')
  expect(nudges).toHaveLength(1)
  expect(slack.told('ann')).toEqual(['The agent was nudged a moment ago. Give it some time.'])
  // Words are not the same press.
  await slack.reply('ann', thread, 'nudge Wake up!')
  expect(nudges).toHaveLength(2)
  await pass(11_000)
  await slack.press('ann', ts, 'nudge')
  expect(nudges).toHaveLength(3)
  await slack.press('ann', ts, 'stop')
  expect(slack.versions(ts).at(-1)).toContain('The session was stopped.')
})

test('a session that has ended waits for no answer', async () => {
  const { slack, ask, services } = openElsewhere()
  const { id, ts, thread } = await ask('diff')
  const sessionId = (await slack.find(id))?.sessionId ?? ''
  await services.sessions.terminate(ann, sessionId)
  await slack.press('ann', ts, 'approve')
  await slack.reply('ann', thread, 'accept')

  for (const told of slack.told('ann'))
    expect(told).toMatch(/^Too late: nobody waits for this answer any more.\n.*Interrupted/)
  expect(slack.told('ann')).toHaveLength(2)
})

test('a room answers for its own sessions alone', async () => {
  const { slack, ask } = openElsewhere({ room: OTHER_ROOM })
  const { id, ts, thread } = await ask('prompt')
  await slack.press('ann', ts, 'continue')
  await slack.reply('ann', thread, 'continue')

  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.told('ann')).toEqual([])
  expect(await slack.refused()).toMatchObject([
    { by: 'slack:U0ANN', what: 'button', tried: 'continue', why: 'other_room', record: id },
    { by: 'slack:U0ANN', what: 'reply', tried: 'continue', why: 'other_room' },
  ])
})

test('what strangers try is on record, each time, without their words', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts, thread } = await ask('prompt')
  for (const text of ['continue', 'my secret plan', 'stop']) await slack.reply('mal', thread, text)
  await slack.slash('mal', 'session-start my secret plan')
  await slack.press('mal', ts, 'continue')

  const mal = { by: 'slack:U0MAL', channel: 'slack', why: 'no_operator', room: ROOM }
  const both = `${TEAM} ${TEAM}`
  expect(await slack.refused()).toEqual([
    { ...mal, what: 'reply', tried: 'continue', team: both },
    { ...mal, what: 'reply', tried: 'words', team: both },
    { ...mal, what: 'reply', tried: 'stop', team: both },
    { ...mal, what: 'command', tried: 'session-start', team: TEAM },
    { ...mal, what: 'button', tried: 'continue', record: id, team: both },
  ])
  expect(new Set(slack.logged.map(({ level, message }) => `${level} ${message}`))).toEqual(
    new Set(['warn somebody was refused']),
  )
  expect(JSON.stringify(slack.logged)).not.toContain('secret')
  expect(slack.told('mal')).toEqual([])
})

test('what needs a passkey is not decided here, and the person gets the way to the console', async () => {
  const { proofs, register } = openProofs()
  await register('ann')
  const { slack, ask } = openElsewhere({ risk: 'critical', stepUp: proofs })
  const { id, ts } = await ask('diff')
  await slack.press('ann', ts, 'approve')
  slack.told('ann')

  await slack.pressOwn('ann', 'confirm:approve')

  expect(slack.told('ann').at(-1)).toMatch(
    /^This needs a passkey. Nothing was decided, and it still waits. .*Decide it in the console/,
  )
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  await slack.press('ann', ts, 'reject')
  expect(await slack.find(id)).toMatchObject({ status: 'rejected' })
})
