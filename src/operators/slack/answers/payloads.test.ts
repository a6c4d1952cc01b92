import { expect, test } from 'vitest'
import { openElsewhere } from './testing/open-records.ts'

/** No id of an operator: a payload that names one is whole again. */
const JUNK = [
  null,
  undefined,
  '',
  'x',
  0,
  -1,
  true,
  [],
  {},
  [[]],
  { id: {} },
  'U0NOBODY',
  'T0ACME',
  '1.1',
  'x'.repeat(3_000),
]

/** The same payload with some of its values, at any depth, replaced by anything. The same seed always spoils it in the same way. */
function spoilt(payload: unknown, seed: number): unknown {
  let state = seed
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const spoil = (value: unknown): unknown => {
    if (next(10) === 0) return JUNK[next(JUNK.length)]
    if (Array.isArray(value)) return value.map(spoil)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one)]))
  }
  return spoil(payload)
}

test('no payload makes the server throw, and a broken one decides nothing', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts, thread } = await ask('diff')
  await slack.press('mal', ts, 'reject')
  await slack.reply('mal', thread, 'reject', { files: [{ name: 'a', content: 'b' }] })
  await slack.slash('mal', 'sessions')
  const [press, reply, command] = slack.payloads

  for (let seed = 0; seed < 300; seed += 1) {
    await slack.answers.onAction(spoilt(press, seed))
    await slack.answers.onCommand(spoilt(command, seed))
    await slack.answers.onMessage(spoilt(reply?.event, seed), { teamId: 'T0ACME' })
  }
  for (const junk of JUNK) {
    await slack.answers.onAction(junk)
    await slack.answers.onCommand(junk)
    await slack.answers.onMessage(junk, { teamId: null })
  }
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.logged.filter(({ level }) => level === 'error')).toEqual([])
})

test('what is too long is not read', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts, thread } = await ask('diff')
  await slack.reply('ann', thread, `reject ${'x'.repeat(50_000)}`)
  const long = 'x'.repeat(10_000_000)
  const from = { user: { id: 'U0ANN', team_id: 'T0ACME' }, channel: { id: 'C0OPS' } }
  const action = { action_id: 'quarterdeck:reject', value: long }
  await slack.answers.onAction({ type: 'block_actions', ...from, container: { message_ts: ts }, actions: [action] })

  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(slack.told('ann')).toEqual([])
})
