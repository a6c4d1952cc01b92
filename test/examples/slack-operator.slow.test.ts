import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { textOf } from '../../src/operators/slack/testing/open-slack.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import { createSlackStandIn } from '../../src/operators/slack/testing/slack-stand-in.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

const [ROOM, ADA, EVE] = ['C012AB3CD', 'U012AB3CD', 'U0EVE']

test('slack-operator restarts a service after a yes in Slack, and only of a person whom it names', async () => {
  const slack = await createSlackStandIn()
  onTestFinished(() => slack.close())
  slack.addUser(ADA, 'ada')
  slack.addUser(EVE, 'eve')
  slack.addChannel(ROOM, 'on-call')
  const { folder, start } = await copyExample('slack-operator')
  const file = join(folder, 'quarterdeck.yaml')
  // The address of the stand-in is all that differs from the example.
  await writeFile(file, (await readFile(file, 'utf8')).replace('slack:\n', `slack:\n  api_url: ${slack.apiUrl}\n`))
  const { url } = await start({ env: { SLACK_APP_TOKEN: slack.appToken, SLACK_BOT_TOKEN: slack.botToken } })
  await slack.whenConnected()
  expect((await fetch(`${url}/console/`)).status).toBe(404)

  const client = createClient({ url, token: OPERATOR_TOKEN })
  const { run_id } = await client.send('outage', 'restart_service {"service": "web"}')
  const has = (action: string) => (message: ShownMessage) =>
    buttonsOf(message).some(({ actionId }) => actionId === `quarterdeck:${action}`)
  const press = (user: string, { channel, ts }: ShownMessage, action: string) =>
    slack.click({ user, channel, ts, actionId: `quarterdeck:${action}` })
  await expect.poll(() => slack.messages(ROOM).some(has('approve'))).toBe(true)
  const [card = expect.fail('no card')] = slack.messages(ROOM).filter(has('approve'))
  expect(textOf(card)).toContain('restart_service')

  await press(EVE, card, 'approve')
  expect((await client.run(run_id)).status).toBe('waiting')
  await press(ADA, card, 'approve')
  await expect.poll(() => slack.ephemerals(ROOM, ADA).some(has('confirm:approve'))).toBe(true)
  const [sure = expect.fail('not asked again')] = slack.ephemerals(ROOM, ADA).filter(has('confirm:approve'))
  await press(ADA, sure, 'confirm:approve')

  await expect.poll(async () => (await client.run(run_id)).answer).toContain('The service web was restarted.')
  const shown = () => slack.messages(ROOM).filter(({ ts }) => ts === card.ts)
  await expect.poll(() => shown().map(textOf).join()).toMatch(/Approved.*U012AB3CD/s)
})
