import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openElsewhere } from './testing/open-records.ts'

/** No id of an operator: a payload that names one is whole again. */
const junk = fc.oneof(
  fc.constantFrom(null, undefined, '', 'x', 0, -1, true, [], {}, 'U0NOBODY', 'C0OPS', 'T0ACME', '1.1'),
  fc.constant('x'.repeat(3_000)),
  fc.object({ maxDepth: 2 }),
)

/** The same payload with some of its values, at any depth, replaced by anything or left out. */
const broken = (payload: unknown): fc.Arbitrary<unknown> =>
  fc.infiniteStream(fc.tuple(fc.integer({ min: 0, max: 9 }), junk)).map((choices) => {
    const spoil = (value: unknown): unknown => {
      const { value: choice = [9, null] } = choices.next()
      if (choice[0] === 0) return choice[1]
      if (Array.isArray(value)) return value.map(spoil)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one)]))
    }
    return spoil(payload)
  })

test('no payload makes the server throw, and a broken one decides nothing', async () => {
  const { slack, ask } = openElsewhere()
  const { id, ts, thread } = await ask('diff')
  await slack.press('mal', ts, 'reject')
  await slack.reply('mal', thread, 'reject', { files: [{ name: 'a', content: 'b' }] })
  await slack.slash('mal', 'sessions')
  const [press, reply, command] = slack.payloads
  const kinds = fc.constantFrom(['interactive', press], ['events_api', reply], ['slash_commands', command])
  const payloads = kinds.chain(([type, payload]) => broken(payload).map((spoilt) => ({ type: String(type), spoilt })))

  await fc.assert(
    fc.asyncProperty(payloads, async ({ type, spoilt }) => {
      if (type === 'interactive') await slack.answers.onAction(spoilt)
      else if (type === 'slash_commands') await slack.answers.onCommand(spoilt)
      else {
        const { event } = Object(spoilt)
        await slack.answers.onMessage(event, { teamId: 'T0ACME' })
      }
      expect(await slack.find(id)).toMatchObject({ status: 'pending' })
    }),
    { numRuns: 100 },
  )
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
