import { type Logger, SocketModeClient } from '@slack/socket-mode'
import { LogLevel, WebClient } from '@slack/web-api'
import { expect, onTestFinished, test } from 'vitest'
import { createManualClock, type ManualClock } from '../../../models/testing/manual-clock.ts'
import { buttonsOf } from './people.ts'
import { createSlackStandIn, type SlackStandIn } from './slack-stand-in.ts'

const ANA = 'U0ANA'
const OPS = 'C0OPS'
const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
}

interface Opened {
  slack: SlackStandIn
  clock: ManualClock
  web: WebClient
  /** `listen` sets the listeners before anything can arrive. */
  connect(listen?: (client: SocketModeClient) => void): Promise<SocketModeClient>
}

async function open(options: { scopes?: string[]; events?: string[] } = {}): Promise<Opened> {
  const clock = createManualClock()
  const slack = await createSlackStandIn({ clock, ...options })
  onTestFinished(() => slack.close())
  const clientOptions = {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  }
  const web = new WebClient(slack.botToken, { ...clientOptions, logger: silent })
  return {
    slack,
    clock,
    web,
    async connect(listen = () => {}) {
      const { appToken } = slack
      const client = new SocketModeClient({ appToken, logger: silent, autoReconnectEnabled: false, clientOptions })
      listen(client)
      await client.start()
      onTestFinished(async () => {
        // The second call does not wait until the other side has closed.
        void client.disconnect()
        await client.disconnect()
      })
      return client
    },
  }
}

const button = (actionId: string, text = 'Accept') => ({
  type: 'button' as const,
  text: { type: 'plain_text' as const, text },
  action_id: actionId,
  value: `value of ${actionId}`,
})
const card = (...actionIds: string[]) => [
  { type: 'section' as const, text: { type: 'mrkdwn' as const, text: '*A card*' } },
  { type: 'actions' as const, elements: actionIds.map((id) => button(id)) },
]
const words = (slack: SlackStandIn) => slack.messages(OPS).map(({ text }) => text)
/** What the client's error says of Slack's answer. */
const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'it worked',
    (error: { data?: { error?: string }; retryAfter?: number; code?: string }) =>
      error.data?.error ?? (error.retryAfter === undefined ? error.code : `retry after ${error.retryAfter}`),
  )

test('the real client learns who it is and which scopes it has', async () => {
  const { slack, web } = await open({ scopes: ['chat:write', 'commands'] })
  expect(await web.auth.test()).toMatchObject({
    ok: true,
    team_id: slack.identity.teamId,
    user_id: slack.identity.botUserId,
    bot_id: slack.identity.botId,
    response_metadata: { scopes: ['chat:write', 'commands'] },
  })
})

test('a message is posted, updated and read back with its metadata', async () => {
  const { slack, web } = await open()
  const metadata = { event_type: 'card', event_payload: { id: 'a1' } }
  const posted = await web.chat.postMessage({ channel: OPS, text: 'one', blocks: card('yes'), metadata })
  const ts = posted.ts ?? ''
  await web.chat.postMessage({ channel: OPS, text: 'reply', thread_ts: ts })
  await web.chat.update({ channel: OPS, ts, text: 'two', blocks: [] })

  const [first] = slack.messages(OPS)
  expect(first?.versions.map(({ text, blocks }) => [text, blocks.length])).toEqual([
    ['one', 2],
    ['two', 0],
  ])
  expect(words(slack)).toEqual(['two', 'reply'])
  const history = await web.conversations.history({ channel: OPS, include_all_metadata: true })
  expect(history.messages).toMatchObject([{ ts, text: 'two', metadata, reply_count: 1 }])
  expect((await web.conversations.history({ channel: OPS })).messages?.[0]).not.toHaveProperty('metadata')
  const replies = await web.conversations.replies({ channel: OPS, ts })
  expect(replies.messages?.map(({ text }) => text)).toEqual(['two', 'reply'])
  const { permalink } = await web.chat.getPermalink({ channel: OPS, message_ts: ts })
  expect(permalink).toBe(`https://acme.slack.com/archives/C0OPS/p${ts.replace('.', '')}`)
})

test('history comes in pages, newest first, from a given time on', async () => {
  const { web } = await open()
  const posted: string[] = []
  for (const text of ['a', 'b', 'c']) posted.push((await web.chat.postMessage({ channel: OPS, text })).ts ?? '')
  const first = await web.conversations.history({ channel: OPS, limit: 2 })
  expect(first.messages?.map(({ text }) => text)).toEqual(['c', 'b'])
  const cursor = first.response_metadata?.next_cursor ?? ''
  const second = await web.conversations.history({ channel: OPS, limit: 2, cursor })
  expect([second.messages?.map(({ text }) => text), second.has_more]).toEqual([['a'], false])
  const later = await web.conversations.history({ channel: OPS, oldest: posted[1] ?? '' })
  expect(later.messages?.map(({ text }) => text)).toEqual(['c'])
})

test('refusals have the names that Slack gives them', async () => {
  const { slack, web } = await open()
  slack.addChannel('C0PRIVATE', 'private', { members: [ANA], isPrivate: true })
  slack.addChannel('C0PUBLIC', 'public', { members: [ANA] })
  slack.addChannel('C0OLD', 'old')
  const old = await web.chat.postMessage({ channel: 'C0OLD', text: 'x' })
  slack.archive('C0OLD')
  const own = (await web.chat.postMessage({ channel: OPS, text: 'x' })).ts ?? ''
  const ofAna = await slackMessage(slack)
  const post = (args: Partial<{ channel: string; text: string; thread_ts: string }>) =>
    errorOf(web.chat.postMessage({ channel: OPS, text: 'x', ...args }))

  expect(await post({ channel: 'C0NONE' })).toBe('channel_not_found')
  expect(await post({ channel: 'C0PRIVATE' })).toBe('channel_not_found')
  expect(await post({ channel: 'C0PUBLIC' })).toBe('not_in_channel')
  expect(await post({ channel: 'C0OLD' })).toBe('is_archived')
  expect(await post({ text: '' })).toBe('no_text')
  expect(await post({ text: 'x'.repeat(40_001) })).toBe('msg_too_long')
  expect(await post({ thread_ts: '1.000001' })).toBe('thread_not_found')
  const update = (ts: string, text = 'y', channel = OPS) => errorOf(web.chat.update({ channel, ts, text }))
  expect(await update('1.000001')).toBe('message_not_found')
  expect(await update(ofAna)).toBe('cant_update_message')
  expect(await update(own, 'y'.repeat(4_001))).toBe('msg_too_long')
  expect(await update(old.ts ?? '', 'y', 'C0OLD')).toBe('is_inactive')
  expect(await errorOf(web.apiCall('chat.postMessage', { channel: OPS, blocks: 'nonsense' }))).toBe(
    'invalid_blocks_format',
  )
  expect(await errorOf(web.apiCall('chat.postMessage', { channel: OPS, text: 'x', metadata: { event_type: 1 } }))).toBe(
    'invalid_metadata_format',
  )
  expect(await errorOf(web.apiCall('views.open', {}))).toBe('unknown_method')
  slack.leave(OPS)
  expect(await post({})).toBe('not_in_channel')
  expect((await web.conversations.info({ channel: OPS })).channel).toMatchObject({
    is_member: false,
    is_archived: false,
  })
})

/** Something that a person wrote. Nobody listens, so it is not acknowledged. */
async function slackMessage(slack: SlackStandIn): Promise<string> {
  void slack.reply({ user: ANA, channel: OPS, thread: null, text: 'by ana' })
  return slack.messages(OPS).find(({ user }) => user === ANA)?.ts ?? ''
}

test('tokens and scopes are checked before anything else', async () => {
  const { slack, web } = await open()
  const post = () => errorOf(web.chat.postMessage({ channel: 'C0NONE', text: 'x' }))
  const stranger = new WebClient('xoxb-wrong', { slackApiUrl: slack.apiUrl, logger: silent })
  expect(await errorOf(stranger.auth.test())).toBe('invalid_auth')
  expect(await errorOf(web.apps.connections.open())).toBe('not_allowed_token_type')
  slack.setScopes(['commands', 'files:read'])
  const refused = await web.chat.postMessage({ channel: OPS, text: 'x' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    data: { error: 'missing_scope', needed: 'chat:write', provided: 'commands,files:read' },
  })
  slack.revokeToken('bot', 'account_inactive')
  expect(await post()).toBe('account_inactive')
  slack.revokeToken('bot', 'valid')
  await web.auth.revoke()
  expect(await post()).toBe('token_revoked')
  expect(slack.calls('chat.postMessage')).toBe(3)
})

test('Slack explains which block it refuses and why', async () => {
  const { slack, web } = await open()
  const text = 'x'.repeat(3_001)
  const refused = await web.chat
    .postMessage({ channel: OPS, text: 'x', blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] })
    .catch((error: unknown) => error)
  const errors = [
    'failed to match all allowed schemas [json-pointer:/blocks/0/text]',
    'must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
  ]
  const messages = errors.map((error) => `[ERROR] ${error}`)
  expect(refused).toMatchObject({ data: { error: 'invalid_blocks', errors, response_metadata: { messages } } })
  expect(slack.messages(OPS)).toEqual([])
})

test('with limits on, a channel takes a few messages at once and then one a second', async () => {
  const { slack, web, clock } = await open()
  slack.limitRate()
  slack.addChannel('C0TWO', 'two')
  const post = (channel = OPS) => errorOf(web.chat.postMessage({ channel, text: 'x' }))
  for (let i = 0; i < 4; i++) expect(await post()).toBe('it worked')
  expect(await post()).toBe('retry after 1')
  expect(await post('C0TWO')).toBe('it worked')
  await clock.advance(1_000)
  expect([await post(), await post()]).toEqual(['it worked', 'retry after 1'])
  expect(slack.messages(OPS)).toHaveLength(5)
})

test('a storm refuses every call until it is over', async () => {
  const { slack, web, clock } = await open()
  slack.storm(30)
  expect(await errorOf(web.auth.test())).toBe('retry after 30')
  await clock.advance(29_500)
  expect(await errorOf(web.auth.test())).toBe('retry after 1')
  await clock.advance(500)
  expect(await errorOf(web.auth.test())).toBe('it worked')
})

test('calls fail as they are told to, and a lost answer has done its work', async () => {
  const { slack, web } = await open()
  const post = (text: string) => errorOf(web.chat.postMessage({ channel: OPS, text }))
  slack.failNext('chat.postMessage', 'fatal_error')
  slack.failNext('chat.postMessage', { status: 503 })
  slack.failNext('chat.postMessage', { broken: 'lost_request' })
  slack.failNext('chat.postMessage', { broken: 'lost_answer' })
  expect([await post('a'), await post('b'), await post('c'), await post('d'), await post('e')]).toEqual([
    'fatal_error',
    'slack_webapi_http_error',
    'slack_webapi_request_error',
    'slack_webapi_request_error',
    'it worked',
  ])
  expect(words(slack)).toEqual(['d', 'e'])
  slack.failNext('auth.test', { broken: 'no_answer' })
  const impatient = new WebClient(slack.botToken, {
    slackApiUrl: slack.apiUrl,
    logger: silent,
    timeout: 20,
    retryConfig: { retries: 0 },
  })
  expect(await errorOf(impatient.auth.test())).toBe('slack_webapi_request_error')
})

test('it goes down and comes back on the same port with everything it knew', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  const gone = new Promise((resolve) => client.once('disconnected', resolve))
  await web.chat.postMessage({ channel: OPS, text: 'before' })
  await slack.goDown()
  await gone
  const refused = await web.auth.test().catch((error: { original?: { cause?: unknown } }) => error.original?.cause)
  // A connection that was kept open may hear only now that it was cut.
  expect(refused).toMatchObject({ code: expect.stringMatching(/^(?:ECONNREFUSED|ECONNRESET)$/) })
  await slack.comeUp()
  await web.chat.postMessage({ channel: OPS, text: 'after' })
  expect(words(slack)).toEqual(['before', 'after'])
})

test('a snippet goes to the thread, and its content needs the token', async () => {
  const { slack, web } = await open()
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'card' })
  const content = '-old\n+new ünï\n'
  const uploaded = await web.filesUploadV2({
    channel_id: OPS,
    thread_ts: ts,
    content,
    filename: 'change.diff',
    snippet_type: 'diff',
    initial_comment: 'the whole diff',
  })
  const id = uploaded.files[0]?.files?.[0]?.id ?? ''
  expect(slack.messages(OPS).at(-1)).toMatchObject({
    threadTs: ts,
    text: 'the whole diff',
    files: [{ id, name: 'change.diff', filetype: 'diff', isSnippet: true, content: Buffer.from(content) }],
  })
  const { file } = await web.files.info({ file: id })
  const url = file?.url_private_download ?? ''
  const allowed = await fetch(url, { headers: { authorization: `Bearer ${slack.botToken}` } })
  expect(await allowed.text()).toBe(content)
  // Slack does not say 401: it shows the page for signing in.
  const refused = await fetch(url)
  expect([refused.status, refused.headers.get('content-type')]).toEqual([200, 'text/html'])
})

test('a click arrives with the button, the message, the person and a way to answer', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'card', blocks: card('yes', 'no') })
  const bodies: Record<string, unknown>[] = []
  client.on('interactive', async ({ body, ack }) => {
    bodies.push(body)
    await ack()
  })
  const ack = await slack.click({ user: ANA, channel: OPS, ts, actionId: 'no' })
  expect(ack).toMatchObject({ isAcked: true, attempts: 1, payload: null })
  expect(bodies).toMatchObject([
    {
      type: 'block_actions',
      user: { id: ANA, username: 'ana', team_id: 'T0ACME' },
      team: { id: 'T0ACME' },
      channel: { id: OPS, name: 'ops' },
      container: { type: 'message', message_ts: ts, channel_id: OPS, is_ephemeral: false },
      message: { ts, text: 'card', bot_id: 'B0BOT' },
      actions: [{ action_id: 'no', type: 'button', value: 'value of no' }],
    },
  ])
  await slack.click({ user: ANA, channel: OPS, ts, actionId: 'no', team: 'T0OTHER' })
  expect(bodies[1]).toMatchObject({ team: { id: 'T0OTHER' }, user: { id: ANA, team_id: 'T0OTHER' } })
})

test('a button that has gone cannot be pressed, but by somebody who still sees it', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  client.on('interactive', ({ ack }) => ack())
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'card', blocks: card('yes') })
  await web.chat.update({ channel: OPS, ts, text: 'done', blocks: card('other') })
  await expect(slack.click({ user: ANA, channel: OPS, ts, actionId: 'yes' })).rejects.toThrow('has no button yes')
  const late = await slack.click({ user: ANA, channel: OPS, ts, actionId: 'yes', stale: true })
  expect(late.isAcked).toBe(true)
})

test('a response URL answers one person, replaces and deletes, five times in half an hour', async () => {
  const { slack, web, clock, connect } = await open()
  const client = await connect()
  const urls: string[] = []
  client.on('interactive', async ({ body, ack }) => {
    urls.push(body.response_url)
    await ack()
  })
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'card', blocks: card('yes') })
  await slack.click({ user: ANA, channel: OPS, ts, actionId: 'yes' })
  await slack.click({ user: ANA, channel: OPS, ts, actionId: 'yes' })
  const respond = async (body: object, url = urls[0] ?? '') => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return `${answer.status} ${await answer.text()}`
  }
  expect(await respond({ text: 'only for you', blocks: card('sure') })).toBe('200 ok')
  expect(slack.ephemerals(OPS, ANA).map(({ text }) => text)).toEqual(['only for you'])
  expect(slack.ephemerals(OPS, 'U0BEN')).toEqual([])
  expect(await respond({ text: 'replaced', replace_original: true })).toBe('200 ok')
  expect(words(slack)).toEqual(['replaced'])
  expect(await respond({})).toBe('400 {"ok":false,"error":"no_text"}')
  expect(await respond({ text: 'for all', response_type: 'in_channel' })).toBe('200 ok')
  expect(await respond({ delete_original: true })).toBe('200 ok')
  expect(words(slack)).toEqual(['for all'])
  expect(await respond({ text: 'five' })).toBe('200 ok')
  expect(await respond({ text: 'six' })).toBe('404 {"ok":false,"error":"used_url"}')
  await clock.advance(31 * 60_000)
  expect(await respond({ text: 'late' }, urls[1])).toBe('404 {"ok":false,"error":"expired_url"}')
})

test('a button that only one person sees is pressed without the message in the payload', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  const bodies: Record<string, unknown>[] = []
  client.on('interactive', async ({ body, ack }) => {
    bodies.push(body)
    await ack()
  })
  const { message_ts: ts = '' } = await web.chat.postEphemeral({
    channel: OPS,
    user: ANA,
    text: 'q',
    blocks: card('yes'),
  })
  await expect(slack.click({ user: 'U0BEN', channel: OPS, ts, actionId: 'yes' })).rejects.toThrow('cannot see')
  await slack.click({ user: ANA, channel: OPS, ts, actionId: 'yes' })
  expect(bodies).toMatchObject([{ container: { is_ephemeral: true, message_ts: ts } }])
  expect(bodies[0]).not.toHaveProperty('message')
})

test('a reply in a thread arrives as people type it, with its files', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'card' })
  const events: Record<string, unknown>[] = []
  client.on('message', async ({ event, ack }) => {
    events.push(event)
    await ack()
  })
  const text = 'if a < b && see https://example.org/x'
  const sent = await slack.reply({
    user: ANA,
    channel: OPS,
    thread: ts,
    text,
    files: [{ name: 'a.ts', content: 'let a' }],
  })
  expect(events).toMatchObject([
    {
      type: 'message',
      subtype: 'file_share',
      user: ANA,
      channel: OPS,
      ts: sent.ts,
      thread_ts: ts,
      text: 'if a &lt; b &amp;&amp; see <https://example.org/x>',
      files: [{ name: 'a.ts', size: 5 }],
    },
  ])
})

test('an app hears of its own messages too', async () => {
  const { slack, web, connect } = await open()
  const client = await connect()
  const heard: unknown[] = []
  const both = new Promise<void>((resolve) => {
    client.on('message', async ({ event, ack }) => {
      heard.push([event.subtype, event.bot_id ?? event.message?.bot_id])
      await ack()
      if (heard.length === 2) resolve()
    })
  })
  const { ts = '' } = await web.chat.postMessage({ channel: OPS, text: 'mine' })
  await web.chat.update({ channel: OPS, ts, text: 'still mine' })
  await both
  expect(heard).toEqual([
    [undefined, slack.identity.botId],
    ['message_changed', slack.identity.botId],
  ])
})

test('a slash command is answered in its acknowledgement', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  client.on('slash_commands', ({ body, ack }) => ack({ text: `you said ${body.text}` }))
  const ack = await slack.slash({ user: ANA, channel: OPS, text: 'help' })
  expect(ack).toMatchObject({ isAcked: true, payload: { text: 'you said help' } })
  expect(slack.ephemerals(OPS, ANA)).toMatchObject([{ text: 'you said help', user: slack.identity.botUserId }])
})

test('what is not acknowledged comes again on another socket, three times at most', async () => {
  const { slack, clock, connect } = await open()
  const seen: string[] = []
  for (const name of ['one', 'two']) {
    const client = await connect()
    client.on('slack_event', ({ retry_num }) => void seen.push(`${name} ${retry_num ?? 0}`))
  }
  const result = slack.slash({ user: ANA, channel: OPS, text: 'help' })
  for (let i = 0; i < 4; i++) {
    await until(() => seen.length === i + 1)
    await clock.advance(3_000)
  }
  expect(await result).toMatchObject({ isAcked: false, attempts: 4 })
  expect(seen).toEqual(['one 0', 'two 1', 'one 2', 'two 3'])
})

/** Resolves when something that happens over a socket has happened. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

test('an envelope can come again although it was acknowledged', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  const seen: number[] = []
  client.on('slack_event', async ({ ack, retry_num }) => {
    seen.push(retry_num ?? 0)
    await ack()
  })
  const { envelopeId } = await slack.slash({ user: ANA, channel: OPS, text: 'help' })
  slack.redeliver(envelopeId)
  await until(() => seen.length === 2)
  expect(seen).toEqual([0, 1])
})

test('what people do while nobody is connected waits for the next socket', async () => {
  const { slack, connect } = await open()
  const result = slack.slash({ user: ANA, channel: OPS, text: 'help' })
  await connect((client) => client.on('slash_commands', ({ ack }) => ack()))
  expect(await result).toMatchObject({ isAcked: true, attempts: 1 })
})

test('a client that is told to refresh closes its socket, and its ticket is used up', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  const gone = new Promise((resolve) => client.once('disconnected', resolve))
  slack.disconnect('refresh_requested')
  await gone
  await client.start()
  expect(slack.socketCount).toBe(1)
  expect(slack.calls('apps.connections.open')).toBe(2)
})

test('sockets are dropped, refused and let in again', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  const gone = new Promise((resolve) => client.once('disconnected', resolve))
  slack.dropSockets()
  await gone
  slack.refuseConnections()
  await expect(client.start()).rejects.toBeUndefined()
  expect(slack.socketCount).toBe(0)
  slack.allowConnections()
  await client.start()
  await slack.whenConnected()
  expect(slack.socketCount).toBe(1)
})

test('a handshake without an answer keeps the client waiting until it gives up', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  slack.dropSockets()
  await new Promise((resolve) => client.once('disconnected', resolve))
  slack.refuseConnections('unanswered')
  const refused = expect(client.start()).rejects.toBeUndefined()
  await new Promise((resolve) => client.once('connecting', resolve))
  void client.disconnect()
  await client.disconnect()
  await refused
  expect(slack.socketCount).toBe(0)
})

test('a frozen socket is silent, and what was sent to it comes again on a new one', async () => {
  const { slack, clock, connect } = await open()
  await connect()
  slack.freeze()
  expect(slack.socketCount).toBe(0)
  const result = slack.slash({ user: ANA, channel: OPS, text: 'help' })
  const second = await connect()
  second.on('slash_commands', ({ ack }) => ack())
  await clock.advance(3_000)
  expect(await result).toMatchObject({ isAcked: true, attempts: 2 })
})

test('an app token that is no longer valid loses its socket', async () => {
  const { slack, connect } = await open()
  const client = await connect()
  const gone = new Promise((resolve) => client.once('disconnected', resolve))
  slack.revokeToken('app')
  await gone
  await expect(client.start()).rejects.toMatchObject({ data: { error: 'token_revoked' } })
})

test('buttons of a message are listed with what they carry', async () => {
  const { slack, web } = await open()
  const link = { ...button('open', 'Console'), url: 'https://example.org/a' }
  const section = { type: 'section' as const, text: { type: 'mrkdwn' as const, text: 'x' }, accessory: link }
  await web.chat.postMessage({ channel: OPS, text: 'x', blocks: [...card('yes'), section] })
  const [message] = slack.messages(OPS)
  if (message === undefined) throw new Error('there is no message')
  expect(buttonsOf(message).map(({ actionId, text, value, url }) => ({ actionId, text, value, url }))).toEqual([
    { actionId: 'yes', text: 'Accept', value: 'value of yes', url: null },
    { actionId: 'open', text: 'Console', value: 'value of open', url: 'https://example.org/a' },
  ])
})
