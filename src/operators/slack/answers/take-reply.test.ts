import { expect, test } from 'vitest'
import { isRecord } from '../../../domain/is-record.ts'
import { people, ROOM } from './testing/open-answers.ts'
import { openElsewhere, openOwn } from './testing/open-records.ts'

const elsewhere = async (kind: Parameters<ReturnType<typeof openElsewhere>['ask']>[0]) => {
  const opened = openElsewhere()
  return { ...opened, ...(await opened.ask(kind)) }
}

test('a typed yes to something dangerous is asked for twice too', async () => {
  const { slack, id, thread } = await elsewhere('permission')
  await slack.reply('ann', thread, 'yes')
  expect(slack.told('ann').at(-1)).toContain('Approve it?')
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  await slack.pressOwn('ann', 'confirm:approve')
  expect(await slack.find(id)).toMatchObject({ decidedBy: 'ann' })
})

test('several things wait: the id says which, and without one there is a list', async () => {
  const { slack, ask } = openElsewhere()
  const permission = await ask('permission')
  const diff = await ask('diff')
  const { thread } = diff
  await slack.reply('ann', thread, 'reject')

  expect(slack.told('ann').at(-1)?.split('\n')).toEqual([
    'Several things wait here. Write the four characters of one behind your answer. Nothing was decided.',
    expect.stringMatching(new RegExp(`^• ${permission.id.slice(-4)} Run deploy · risk high \\(approve,`)),
    expect.stringMatching(
      new RegExp(
        `^• ${diff.id.slice(-4)} Change a.txt \\+1 −1 · Change · risk low \\(approve, reject and a reason\\)$`,
      ),
    ),
  ])
  await slack.reply('ann', thread, 'accept ffff0000')
  expect(slack.told('ann').at(-1)).toContain('Nothing here has an id like that. Nothing was decided.')
  expect(await slack.find(diff.id)).toMatchObject({ status: 'pending' })
  await slack.reply('ann', thread, `reject ${permission.id} Not here.`)
  expect(await slack.find(permission.id)).toMatchObject({ status: 'rejected', reason: 'Not here.' })
  // One is left, so no id is needed.
  await slack.reply('ann', thread, 'ok')
  expect(await slack.find(diff.id)).toMatchObject({ status: 'approved', decidedBy: 'ann' })
  await slack.reply('ann', thread, `accept ${permission.id}`)
  expect(slack.told('ann').at(-1)).toMatch(/^You have answered this already. That answer counts, once.\n/)
})

test('an answer that fits nothing decides nothing', async () => {
  const { slack, id, thread } = await elsewhere('prompt')
  await slack.reply('ann', thread, 'accept')
  expect(slack.told('ann')).toEqual([
    expect.stringMatching(
      /^That answers nothing that waits here. Nothing was decided.\n• .* \(continue, refine and what to do instead, stop\)$/,
    ),
  ])
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})

test('a reply cannot answer what was not there to be seen', async () => {
  const { slack, ask, services, agent } = openElsewhere()
  const { thread, ts } = await ask('prompt')
  await slack.press('ann', ts, 'continue')
  // The next question has no card yet.
  void services.tools.ask_approval(agent, { title: 'Change', diff: 'one\nthree\n', file_path: 'a.txt' })
  const { id } = await services.nextWaiting()
  await slack.reply('ann', thread, 'accept')

  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.told('ann')).toEqual(['Nothing waits for an answer here.'])
})

test.each([
  ['prompt', 'refine', { status: 'decided', decision: 'refine', instruction: 'Use <b> & “v2”' }],
  ['standby', 'resume:text', { status: 'resumed', instruction: 'Use <b> & “v2”' }],
  ['alert', 'nudge:text', { status: 'nudged', nudgeMessage: 'Use <b> & “v2”' }],
] as const)('after %s: %s the next reply of this person is the text', async (kind, action, record) => {
  const { slack, id, ts, thread } = await elsewhere(kind)
  await slack.press('ann', ts, action)
  expect(slack.told('ann').at(-1)).toContain('Your next reply in this thread is the text for')
  expect(slack.versions(ts).at(-1)).toContain('ann: write the text for')
  // Not the reply of somebody else, and not one in another thread.
  await slack.reply('mal', thread, 'Something else')
  await slack.reply('ann', slack.workspace.post({ channel: ROOM, user: people.ann, text: 'hi' }).ts, 'Lunch?')
  expect(await slack.find(id)).not.toMatchObject(record)
  await slack.reply('ann', thread, 'Use <b> & “v2”')

  expect(await slack.find(id)).toMatchObject(record)
  expect(slack.told('ann')).toHaveLength(2)
  // It was one text, not all that follow.
  await slack.reply('ann', thread, 'cancel')
  expect(slack.told('ann').at(-1)).toBe('There is nothing to cancel.')
})

test('a text can be called off, comes too late, or is written again', async () => {
  const { slack, id, ts, thread, pass } = await elsewhere('prompt')
  await slack.press('ann', ts, 'refine')
  await slack.reply('ann', thread, 'Cancel')
  expect(slack.told('ann').at(-1)).toBe(
    'No text is expected any more. Nothing was decided; the card still has its buttons.',
  )
  expect(slack.versions(ts).at(-1)).not.toContain('write the text')
  await slack.press('ann', ts, 'refine')
  await pass(15 * 60_000)
  await slack.reply('ann', thread, 'Only the tests.')
  expect(slack.told('ann').at(-1)).toContain('The time to write the text is over.')
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  await slack.reply('ann', thread, 'refine')
  await slack.reply('ann', thread, 'x'.repeat(4_001))
  expect(slack.told('ann').at(-1)).toContain('Send a text of 1 to 4000 characters.')
  await slack.reply('ann', thread, 'Shorter.')
  expect(await slack.find(id)).toMatchObject({ decision: 'refine', instruction: 'Shorter.' })
})

test('a text for something that was decided meanwhile is not lost in silence', async () => {
  const { slack, ts, thread } = await elsewhere('prompt')
  await slack.press('ann', ts, 'refine')
  await slack.press('root', ts, 'stop')
  await slack.reply('ann', thread, 'Only the tests.')
  expect(slack.told('ann').at(-1)).toMatch(/^It was decided already. Your answer changes nothing.\n.*Stopped by root/)
})

test('whoever answers in another way writes no text for it any more', async () => {
  const { slack, ask, id, ts, thread } = await elsewhere('prompt')
  await slack.press('ann', ts, 'refine')
  await slack.press('ann', ts, 'continue')
  expect(await slack.find(id)).toMatchObject({ decision: 'continue' })
  const next = await ask('diff')
  await slack.reply('ann', thread, 'accept')
  expect(await slack.find(next.id)).toMatchObject({ status: 'approved', decidedBy: 'ann' })
})

test('one text is expected of a person in a thread, for the button that they pressed last', async () => {
  const { slack, ask, id, ts, thread } = await elsewhere('prompt')
  const other = await ask('standby')
  await slack.press('ann', ts, 'refine')
  await slack.press('ann', other.ts, 'resume:text')
  expect(slack.versions(ts).at(-1)).not.toContain('write the text')
  await slack.reply('ann', thread, 'stop')
  expect(await slack.find(other.id)).toMatchObject({ status: 'resumed', instruction: 'stop' })
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})

test('what a button expects is in the store, not in memory', async () => {
  const first = await elsewhere('prompt')
  await first.slack.press('ann', first.ts, 'refine')
  const notes = await first.services.store.outbox.notes(`slack:${ROOM}`)
  expect(notes).toMatchObject([
    { key: `text/${first.thread}/${people.ann}`, session: (await first.slack.find(first.id))?.sessionId },
  ])
  await first.slack.reply('ann', first.thread, 'Only the tests.')
  expect(await first.services.store.outbox.notes(`slack:${ROOM}`)).toEqual([])
})

test('words that are no answer get a hint once a minute, and never a guess', async () => {
  const { slack, id, thread, pass } = await elsewhere('diff')
  for (const text of ['Looks good to me!', 'yes but only the first part', 'hm']) await slack.reply('ann', thread, text)
  expect(slack.told('ann')).toEqual([
    'That is not an answer, so nothing was decided. What waits here takes: approve, reject and a reason.',
  ])
  await pass(60_000)
  await slack.reply('ann', thread, 'hm')
  expect(slack.told('ann')).toHaveLength(2)
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})

test('words in a thread where nothing waits go to the agent, and the person is told when it gets them', async () => {
  const { slack, id, thread, pass, services } = await elsewhere('diff')
  await slack.reply('ann', thread, 'accept')
  await slack.reply('ann', thread, 'Then write the tests, please.\nAnd <b>only</b> those.')
  expect(slack.told('ann').at(-1)).toBe('The agent gets this with the result of its next call.')
  // Eve may not command this agent, and ann may talk to her.
  await slack.reply('eve', thread, 'Then deploy it.')
  await slack.reply('eve', thread, 'Now.')
  const place = { channel: ROOM, team: 'T0ACME', thread_ts: thread, ts: '9999999999.000100' }
  const toEve = { ...place, type: 'message', user: people.ann, text: `<@${people.eve}> no!` }
  await slack.answers.onMessage(toEve, { teamId: 'T0ACME' })
  await pass(60_000)

  const { sessionId } = (await slack.find(id)) ?? expect.fail()
  const waiting = await services.store.supervised.instructions({ sessionId, isWaiting: true, limit: 10 })
  expect(waiting.map(({ text, source }) => [text, source])).toEqual([
    ['Then write the tests, please.\nAnd <b>only</b> those.', 'ann via slack'],
  ])
  expect(slack.told('eve')).toEqual([expect.stringMatching(/belongs to ann.+\nThe agent was told nothing\.$/s)])
})

test('words in the thread of an agent of our own, where nothing waits, go nowhere', async () => {
  const { slack, thread } = await openOwn('question')
  await slack.reply('ann', thread, 'reject')
  await slack.reply('ann', thread, 'No.')
  await slack.reply('ann', thread, 'thanks')
  expect(slack.told('ann').at(-1)).toBe('Nothing waits for an answer here, so nobody was told.')
})

test('talk between people is no instruction', async () => {
  const { slack, id, thread } = await elsewhere('standby')
  await slack.answers.onMessage(
    {
      type: 'message',
      user: people.ann,
      channel: ROOM,
      team: 'T0ACME',
      thread_ts: thread,
      ts: '9999999999.000100',
      text: `<@${people.eve}> what do you think?`,
    },
    { teamId: 'T0ACME' },
  )
  // Eve may not command this agent. She is not told so for every word that she says.
  await slack.reply('eve', thread, 'I would write the docs.')
  await slack.reply('eve', thread, 'And the tests.')

  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.told('ann')).toEqual([expect.stringContaining('resume, resume and what to do next, stop')])
  expect(slack.told('eve')).toHaveLength(1)
})

test('edited messages, deleted ones, echoes and bots are no answers', async () => {
  const { slack, id, thread } = await elsewhere('prompt')
  const said = {
    type: 'message',
    user: people.ann,
    channel: ROOM,
    team: 'T0ACME',
    thread_ts: thread,
    text: 'stop',
  }
  const others = [
    { ...said, subtype: 'message_changed', hidden: true, message: said, previous_message: said },
    { ...said, subtype: 'message_deleted', previous_message: said },
    { ...said, bot_id: 'B0BOT' },
    { ...said, subtype: 'bot_message', bot_id: 'B0X' },
    { ...said, edited: { user: people.ann, ts: '1.0' } },
    { ...said, subtype: 'channel_join' },
    { ...said, thread_ts: undefined },
    { ...said, type: 'app_mention' },
    { ...said, user_team: 'T0EVIL' },
  ]
  let n = 0
  for (const event of others)
    await slack.answers.onMessage({ ...event, ts: `9999999999.00010${n++}` }, { teamId: 'T0ACME' })
  await slack.answers.onMessage({ ...said, ts: '9999999999.000200' }, { teamId: null })
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.told('ann')).toEqual([])
  await slack.answers.onMessage({ ...said, ts: '9999999999.000300' }, { teamId: 'T0ACME' })
  expect(await slack.find(id)).toMatchObject({ decision: 'stop' })
})

test('a message that Slack tells twice counts once', async () => {
  const { slack, nudges, thread } = await elsewhere('alert')
  await slack.reply('ann', thread, 'nudge Wake up!')
  const [payload] = slack.payloads
  if (!isRecord(payload)) throw new Error('nothing came')
  await slack.hand('events_api', payload)
  expect(nudges.map(({ message }) => message)).toEqual(['Wake up!'])
})

test.each([
  ['L', { status: 'answered', response: '{"size":"L"}' }],
  ['answer l', { status: 'answered', response: '{"size":"L"}' }],
  ['no', { status: 'rejected', reason: null }],
])('a question with few values takes %j', async (text, record) => {
  const { slack, id, thread } = await openOwn('question')
  await slack.reply('ann', thread, text)
  expect(await slack.find(id)).toMatchObject(record)
})

test('a question takes no other values', async () => {
  const { slack, id, thread } = await openOwn('question')
  await slack.reply('ann', thread, 'answer XL')
  expect(slack.told('ann')).toEqual([
    'Your text does not fit the question. Nothing was answered. The card says which values it takes.',
  ])
  await slack.reply('ann', thread, 'yes')
  expect(slack.told('ann').at(-1)).toContain('That answers nothing that waits here.')
  await slack.reply('ann', thread, 'answer')
  await slack.reply('ann', thread, 'XL')
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  // The text is still expected.
  await slack.reply('ann', thread, 's')
  expect(await slack.find(id)).toMatchObject({ status: 'answered', response: '{"size":"S"}' })
})

test('a question with several fields leads to the console, and takes JSON', async () => {
  const fields = { name: { type: 'string' }, age: { type: 'integer' } }
  const schema = { type: 'object', properties: fields, required: ['name', 'age'] }
  const { slack, id, ts, thread } = await openOwn('question', schema)
  const told = `This question has several fields. Nothing was answered. Reply with answer and all fields as JSON, or [answer it in the console](http://127.0.0.1:8000/console/inbox/${id})`
  await slack.press('ann', ts, 'answer')
  await slack.reply('ann', thread, 'answer Ben 42')
  expect(slack.told('ann')).toEqual([told, told])
  await slack.reply('ann', thread, 'answer {"name": "Ben", "age": "42"}')
  expect(slack.told('ann').at(-1)).toContain('does not fit what order asks for')
  await slack.reply('ann', thread, 'answer {"name": "Ben", "age": 42}')
  expect(await slack.find(id)).toMatchObject({ status: 'answered', response: '{"name":"Ben","age":42}' })
})
