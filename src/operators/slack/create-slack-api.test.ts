import { expect, onTestFinished, test } from 'vitest'
import type { Logger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import type { SlackMessage } from './cards/blocks.ts'
import { line, mrkdwn, rich } from './cards/blocks.ts'
import { createSlackApi } from './create-slack-api.ts'
import { createLibraryLogger } from './slack-caller.ts'
import { createSlackHealth } from './slack-health.ts'
import { ANA, OPS } from './testing/open-slack.ts'
import { createSlackStandIn } from './testing/slack-stand-in.ts'

async function open({ teamId = null as string | null } = {}) {
  const clock = createManualClock()
  const slack = await createSlackStandIn({ clock })
  onTestFinished(() => slack.close())
  const lines: string[] = []
  const tell = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger: Logger = { debug: tell, info: tell, warn: tell, error: tell, with: () => logger }
  const health = createSlackHealth({ clock, logger })
  const api = createSlackApi({
    ...{ apiUrl: slack.apiUrl, botToken: slack.botToken, teamId, fetch, clock, logger, health },
    isPerson: (user) => user === ANA,
    pace: async () => {},
    libraryLogger: createLibraryLogger(logger, 'warn'),
  })
  return { api, slack, clock, lines, health }
}

const hello: SlackMessage = { text: 'hello', blocks: rich(line('Hello')), files: [] }
const top = (key: string) => ({ thread: null, key })

test('a message is found by its key, in the room and in its thread, and only if it is ours', async () => {
  const { api, slack } = await open()
  const root = await api.post(OPS, hello, top('root'))
  const reply = await api.post(OPS, hello, { thread: root, key: 'reply' })
  await api.upload(OPS, root, { name: 'a.diff', content: '+ä', snippetType: 'diff' })

  expect((await api.keys(OPS, null)).get('root')).toBe(root)
  expect((await api.keys(OPS, root)).get('reply')).toBe(reply)
  expect((await api.keys(OPS, null)).has('reply')).toBe(false)
  expect([...(await api.keys(OPS, root)).keys()]).toEqual(['root', 'reply', 'file/a.diff'])
  expect([...slack.files.values()].map(({ content, filetype }) => [content.toString(), filetype])).toEqual([
    ['+ä', 'diff'],
  ])
  expect((await api.keys(OPS, '1.000001')).has('reply')).toBe(false)
  await api.update(OPS, root, { ...hello, text: 'changed' })
  expect((await api.keys(OPS, null)).get('root')).toBe(root)
})

test('what Slack refuses to show comes as plain text, and the log says that it is our mistake', async () => {
  const { api, slack, lines } = await open()
  const wrong = { ...hello, blocks: [mrkdwn('x'.repeat(3_001))] }
  const ts = await api.post(OPS, wrong, top('one'))
  await api.update(OPS, ts, wrong)

  expect(slack.messages(OPS).map(({ text, blocks }) => [text, blocks])).toEqual([
    ['hello\nSlack could not show the rest. Open the console.', []],
  ])
  expect(lines.filter((said) => said.startsWith('Slack refused a message of ours')).length).toBe(2)
})

test('says how long to wait, and does not call again before', async () => {
  const { api, slack, clock } = await open()
  await api.self()
  slack.storm(7)
  await expect(api.post(OPS, hello, top('one'))).rejects.toMatchObject({ retryAfterMs: 7_000, isUnclear: false })
  await clock.advance(2_000)
  await expect(api.post(OPS, hello, top('one'))).rejects.toMatchObject({ retryAfterMs: 5_000 })
  expect(slack.calls('chat.postMessage')).toBe(1)
  await clock.advance(5_000)
  await api.post(OPS, hello, top('one'))
})

test('knows when nobody can say whether it worked', async () => {
  const { api, slack } = await open()
  await api.self()
  const post = () => api.post(OPS, hello, top('one'))
  slack.failNext('chat.postMessage', { status: 503 })
  await expect(post()).rejects.toMatchObject({ isUnclear: true })
  slack.failNext('chat.postMessage', { broken: 'lost_answer' })
  await expect(post()).rejects.toMatchObject({ isUnclear: true, giveUp: false })
  slack.failNext('chat.postMessage', 'fatal_error')
  await expect(post()).rejects.toMatchObject({ isUnclear: true })
  slack.failNext('chat.postMessage', 'is_archived')
  await expect(post()).rejects.toMatchObject({ isUnclear: false, error: 'is_archived', giveUp: false })
})

test('files are read only from Slack, and only so much of them', async () => {
  const { api, slack } = await open()
  void slack.reply({
    user: ANA,
    channel: OPS,
    thread: null,
    text: '',
    files: [{ name: 'a.txt', content: 'x'.repeat(100) }],
  })
  const { origin } = new URL(slack.apiUrl)
  const [file] = slack.files.values()
  const url = `${origin}/files-pri/${slack.identity.teamId}-${file?.id}/a.txt`
  expect((await api.download(url, 100)).length).toBe(100)
  await expect(api.download(url, 99)).rejects.toMatchObject({ code: 'invalid_request' })
  for (const elsewhere of [
    'http://127.0.0.1:9/files-pri/x',
    'https://slack.com.evil.example/x',
    'file:///etc/passwd',
    'x',
  ]) {
    await expect(api.download(elsewhere, 100)).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(api.respond(elsewhere, hello)).rejects.toMatchObject({ code: 'invalid_request' })
  }
  slack.setScopes(['chat:write'])
  await expect(api.download(url, 100)).rejects.toMatchObject({ error: 'missing_scope', neededScope: 'files:read' })
})

test('only the person who is meant sees a whisper', async () => {
  const { api, slack } = await open()
  await api.whisper(OPS, ANA, hello, null)
  expect([slack.messages(OPS), slack.ephemerals(OPS, ANA).map(({ text }) => text)]).toEqual([[], ['hello']])
  await expect(api.whisper(OPS, 'U0NOBODY', hello, null)).rejects.toMatchObject({ error: 'user_not_in_channel' })
})

test('no token and no text gets into the log', async () => {
  const { api, slack, lines } = await open()
  await api.post(OPS, { ...hello, text: 'very private' }, top('one'))
  slack.failNext('chat.postMessage', { broken: 'lost_request' })
  await api.post(OPS, { ...hello, text: 'very private' }, top('two')).catch(() => {})
  slack.revokeToken('bot')
  await api.post(OPS, { ...hello, text: 'very private' }, top('two')).catch(() => {})
  const library = createLibraryLogger({ ...silent, warn: (said) => void lines.push(said) }, 'warn')
  library.error(`Failed (xoxb-1-secret, wss://x/?ticket=secret&app=1, Bearer xapp-1-secret)`)

  expect(lines.length).toBeGreaterThan(1)
  expect(lines.join()).not.toContain('private')
  expect(lines.join()).not.toContain(slack.botToken)
  expect(lines.join()).not.toContain('secret')
})

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent }
