import { expect, onTestFinished, test } from 'vitest'
import { checkSlack } from './check-slack.ts'
import { ANA, OPS } from './testing/open-slack.ts'
import { createSlackStandIn, type SlackStandIn } from './testing/slack-stand-in.ts'

async function open() {
  const slack = await createSlackStandIn()
  onTestFinished(() => slack.close())
  const check = (values: Partial<Parameters<typeof checkSlack>[0]> = {}) =>
    checkSlack({
      apiUrl: slack.apiUrl,
      tokens: { app: slack.appToken, bot: slack.botToken },
      teamId: null,
      rooms: [OPS],
      operators: [
        { name: 'ann', slack: ANA },
        { name: 'zoe', slack: null },
      ],
      fetch,
      ...values,
    })
  return { slack, check }
}

test('says what is right', async () => {
  const { check } = await open()
  expect(await check()).toEqual(
    [
      'App token: connections can be opened',
      'Bot token: quarterdeck in the workspace acme',
      'Channel C0OPS: #ops, and the bot is in it',
      'Scopes: all are there',
      'Operator ann: U0ANA is ana in Slack',
    ].map((detail) => ({ status: 'ok', detail })),
  )
})

test.each([
  ['a revoked bot token', (slack: SlackStandIn) => slack.revokeToken('bot'), 'ctl credential set slack_bot_token'],
  ['a revoked app token', (slack: SlackStandIn) => slack.revokeToken('app'), 'ctl credential set slack_app_token'],
  ['an archived channel', (slack: SlackStandIn) => slack.archive(OPS), 'Unarchive it'],
  ['a channel without the bot', (slack: SlackStandIn) => slack.leave(OPS), '“/invite @quarterdeck”'],
  [
    'missing scopes',
    (slack: SlackStandIn) => slack.setScopes(['chat:write', 'channels:read', 'channels:history', 'users:read']),
    'lacks the scope commands, files:read, files:write',
  ],
  ['no answer', (slack: SlackStandIn) => slack.failNext('auth.test', { status: 502 }), 'Check the network'],
])('says how to mend %s', async (_, breaks, mend) => {
  const { slack, check } = await open()
  breaks(slack)
  const wrong = (await check()).filter(({ status }) => status === 'fail')
  expect(wrong.length).toBe(1)
  expect(wrong[0]?.mend).toContain(mend)
})

test('finds settings that do not fit', async () => {
  const { slack, check } = await open()
  const found = await check({
    tokens: { app: slack.botToken, bot: slack.appToken },
    teamId: 'T0OTHER',
    rooms: ['C0NONE'],
    operators: [{ name: 'bob', slack: 'U0NOBODY' }],
  })
  expect(found.map(({ status }) => status)).toEqual(['fail', 'fail'])
  const others = await check({ teamId: 'T0OTHER', rooms: ['C0NONE'], operators: [{ name: 'bob', slack: 'U0NOBODY' }] })
  expect(others.filter(({ status }) => status === 'fail').map(({ detail }) => detail)).toEqual([
    'Workspace',
    'Channel C0NONE',
    'Operator bob',
  ])
})
