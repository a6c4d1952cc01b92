import { expect, test } from 'vitest'
import { plainText } from './payloads.ts'
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

test.each([
  ['a &lt;b&gt; &amp; c', 'a <b> & c'],
  // One step back, not two.
  ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
  ['see <https://a.example/x?y=1&amp;z=2>', 'see https://a.example/x?y=1&z=2'],
  ['<https://a.example|the docs> say', 'the docs (https://a.example) say'],
  ['change <http://README.md|README.md>', 'change README.md'],
  ['<http://a.example/|a.example>', 'a.example'],
  ['mail <mailto:a@b.example|a@b.example>', 'mail a@b.example'],
  ['call <tel:+491234|+49 1234>', 'call +49 1234 (tel:+491234)'],
  ['<@U0ANN> and <@U0BEN|ben> and <@W0X>', '@ann and @ben and @W0X'],
  ['in <#C0OPS|ops> or <#C0TWO>', 'in #ops or #C0TWO'],
  ['<!channel> <!here|here> <!subteam^S1|@team> <!date^1^{date}|today>', '@channel here @team today'],
  ['“curly” – and ‘single’', '“curly” – and ‘single’'],
  ['<b>bold</b> and <Map<string>>', '<b>bold</b> and <Map<string>>'],
  ['<javascript:alert(1)|x>', '<javascript:alert(1)|x>'],
])('%s is %s', (text, plain) => {
  expect(plainText(text, (user) => (user === 'U0ANN' ? 'ann' : null))).toBe(plain)
})

test('a long hostile text is read at once', () => {
  const before = process.threadCpuUsage()
  for (const piece of ['<', '<@', '&amp', '<http://a|', '>', '<!date^']) plainText(piece.repeat(40_000 / piece.length))
  expect(process.threadCpuUsage(before).user).toBeLessThan(10_000_000)
})
