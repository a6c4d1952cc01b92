// A Slack on this machine for the tests: a real HTTP server and real WebSockets that the real client libraries talk to. It keeps
// Slack's limits and error names, and can go down, lose things, and say things twice.

import http from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { type Clock, createSystemClock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { type ApiArguments, createApiMethods, type Upload } from './api-methods.ts'
import { createPeople, type People } from './people.ts'
import { createResponseUrls } from './response-urls.ts'
import {
  createSlackWorkspace,
  newSecret,
  type ShownMessage,
  type SlackFile,
  type SlackIdentity,
  type SlackWorkspace,
} from './slack-workspace.ts'
import { createSocketHub, type DisconnectReason } from './socket-hub.ts'
import { type ApiRequest, createWebApi, type Failure, type TokenState, type WebApi } from './web-api.ts'

export interface SlackStandIn extends Omit<People, 'tell'> {
  /** For `slackApiUrl` of both clients. */
  readonly apiUrl: string
  readonly botToken: string
  readonly appToken: string
  readonly identity: SlackIdentity

  /** What everybody sees in a channel and its threads now, oldest first. `versions` of each has its past. */
  messages(channel: string): ShownMessage[]
  /** What only one person sees. Left out: of all people. */
  ephemerals(channel: string, user?: string): ShownMessage[]
  /** Files by their id. */
  readonly files: ReadonlyMap<string, SlackFile>
  /** Every call of the Web API so far, in order. */
  readonly requests: readonly ApiRequest[]
  /** How often a method was called, failed calls included. */
  calls(method: string): number

  /** Somebody deletes a message. */
  remove(channel: string, ts: string): void
  addUser(id: string, name: string): void
  /** Without `members` it has the bot and all users of now. */
  addChannel(id: string, name: string, options?: { members?: readonly string[]; isPrivate?: boolean }): void
  /** The bot, if no user is named. */
  join(channel: string, user?: string): void
  leave(channel: string, user?: string): void
  archive(channel: string, isArchived?: boolean): void
  setScopes(scopes: readonly string[]): void
  /** The bot's token if none is named; `valid` makes it good again. An app token that is revoked loses its sockets. */
  revokeToken(which?: 'bot' | 'app', state?: TokenState): void

  /** Resolves when at least so many sockets have got their `hello`. */
  whenConnected(count?: number): Promise<void>
  /** Sockets that are open and not frozen. */
  readonly socketCount: number
  /** Sends what is not acknowledged again at once, or one envelope even if it is acknowledged. */
  redeliver(envelopeId?: string): void
  /** Tells the client to open a new socket. `warning`: in a few seconds. */
  disconnect(reason: DisconnectReason): void
  /** Closes the sockets hard. */
  dropSockets(): void
  /** The sockets of now are dead: still open, but without pongs or messages. New ones work. */
  freeze(): void
  /** New sockets are refused while the Web API works. `unanswered`: their handshake never ends. */
  refuseConnections(how?: 'refused' | 'unanswered'): void
  allowConnections(): void

  /** Nobody listens on the port any more, and all connections are cut. */
  goDown(): Promise<void>
  /** Listens on the same port again. */
  comeUp(): Promise<void>
  /** The next calls of a method fail. A text is an error of Slack, such as `fatal_error`. */
  failNext(method: string, failure: string | Failure, times?: number): void
  /** Every call gets 429 for so long, by the clock. */
  storm(seconds: number): void
  /** Slack's limits of rate. They are off at first, so that tests do not wait. */
  limitRate(isOn?: boolean): void
  close(): Promise<void>
}

interface SlackStandInOptions {
  /** Rules `ts`, retries, limits and lifetimes. Left out: the real one. */
  clock?: Clock
  scopes?: readonly string[]
  /** Types of events that the app gets, the echoes of its own messages included. Left out: `message`. */
  events?: readonly string[]
}

const SCOPES = [
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'users:read',
] as const

/** It has the users `U0ANA`, `U0BEN` and the bot, all in the channel `C0OPS`. */
export async function createSlackStandIn({
  clock = createSystemClock(),
  scopes = SCOPES,
  events = ['message'],
}: SlackStandInOptions = {}): Promise<SlackStandIn> {
  const identity = { teamId: 'T0ACME', teamDomain: 'acme', appId: 'A0DECK', botUserId: 'U0BOT', botId: 'B0BOT' }
  const botToken = `xoxb-${newSecret()}`
  const appToken = `xapp-1-${newSecret()}`
  const workspace = createSlackWorkspace(clock, identity)
  const hub = createSocketHub(clock, newSecret, identity.appId)
  const responseUrls = createResponseUrls(workspace, clock)
  const people = createPeople({ workspace, hub, responseUrls, clock })
  const uploads = new Map<string, Upload>()
  const tickets = new Set<string>()
  let handshakes: 'accepted' | 'refused' | 'unanswered' = 'accepted'
  const unanswered = new Set<Socket>()

  /** An app is told of everything in its channels, also of what it did itself. */
  function tell(channel: string, event: Record<string, unknown> & { type: string }): void {
    const isMember = workspace.channels.get(channel)?.members.has(identity.botUserId) === true
    if (isMember && events.includes(event.type) && hub.count > 0) void people.tell(event)
  }

  const api = createWebApi({
    clock,
    botToken,
    appToken,
    scopes,
    methods: createApiMethods({
      workspace,
      uploads,
      openConnection() {
        const ticket = newSecret()
        tickets.add(ticket)
        return `${workspace.baseUrl.replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${identity.appId}`
      },
      revoke() {
        api.tokens.bot = 'token_revoked'
      },
      onPost(message) {
        const { channel, ts } = message
        tell(channel, { ...workspace.onWire(message, true), type: 'message', channel, event_ts: ts })
      },
      onUpdate(before, after) {
        const { channel } = after
        const changed = { message: workspace.onWire(after, true), previous_message: workspace.onWire(before, true) }
        tell(channel, { type: 'message', subtype: 'message_changed', hidden: true, channel, ...changed })
      },
    }),
  })

  const server = http.createServer((request, response) => {
    answerRequest({ request, response, workspace, api, uploads, botToken, respond: responseUrls.respond }).catch(
      (error: unknown) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(String(error))
      },
    )
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket: Socket, head) => {
    const ticket = new URL(request.url ?? '', workspace.baseUrl).searchParams.get('ticket') ?? ''
    socket.on('error', () => {})
    if (handshakes === 'unanswered') return void unanswered.add(socket)
    // A ticket opens one socket.
    const isTaken = handshakes === 'accepted' && tickets.delete(ticket)
    if (!isTaken) return void socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
    sockets.handleUpgrade(request, socket, head, (client) => hub.take(client))
  })
  const port = await listen(server, 0)
  workspace.baseUrl = `http://127.0.0.1:${port}`

  async function goDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    hub.drop()
    for (const socket of unanswered) socket.destroy()
    server.closeAllConnections()
    await closed
  }

  const channelOf = (id: string) => {
    const channel = workspace.channels.get(id)
    if (channel === undefined) throw new Error(`there is no channel ${id}`)
    return channel
  }

  const standIn: SlackStandIn = {
    apiUrl: `${workspace.baseUrl}/api/`,
    botToken,
    appToken,
    identity,
    click: people.click,
    reply: people.reply,
    slash: people.slash,

    messages: (channel) =>
      workspace.all(channel).filter((message) => !message.isDeleted && message.ephemeralTo === null),
    ephemerals: (channel, user) =>
      workspace
        .all(channel)
        .filter(
          ({ isDeleted, ephemeralTo }) => !isDeleted && ephemeralTo !== null && ephemeralTo === (user ?? ephemeralTo),
        ),
    files: workspace.files,
    requests: api.requests,
    calls: (method) => api.requests.filter((request) => request.method === method).length,

    remove(channel, ts) {
      const message = workspace.find(channel, ts)
      if (message === null) throw new Error(`there is no message ${ts} in ${channel}`)
      workspace.remove(message)
    },
    addUser: (id, name) => void workspace.users.set(id, { id, name }),
    addChannel(id, name, { members = [...workspace.users.keys()], isPrivate = false } = {}) {
      workspace.channels.set(id, { id, name, members: new Set(members), isPrivate, isArchived: false })
    },
    join(channel, user = identity.botUserId) {
      channelOf(channel).members.add(user)
      tell(channel, { type: 'member_joined_channel', user, channel, team: identity.teamId })
    },
    leave(channel, user = identity.botUserId) {
      tell(channel, { type: 'member_left_channel', user, channel, team: identity.teamId })
      channelOf(channel).members.delete(user)
    },
    archive(channel, isArchived = true) {
      channelOf(channel).isArchived = isArchived
      tell(channel, { type: isArchived ? 'channel_archive' : 'channel_unarchive', channel, user: 'U0ANA' })
    },
    setScopes(next) {
      api.scopes = next
    },
    revokeToken(which = 'bot', state = 'token_revoked') {
      api.tokens[which] = state
      if (which === 'app' && state !== 'valid') hub.disconnect('link_disabled')
    },

    whenConnected: (count = 1) => hub.whenOpen(count),
    get socketCount() {
      return hub.count
    },
    redeliver: hub.redeliver,
    disconnect: hub.disconnect,
    dropSockets: hub.drop,
    freeze: hub.freeze,
    refuseConnections(how = 'refused') {
      handshakes = how
    },
    allowConnections() {
      handshakes = 'accepted'
    },

    goDown,
    async comeUp() {
      await listen(server, port)
    },
    failNext: (method, failure, times = 1) =>
      api.failNext(method, typeof failure === 'string' ? { error: failure } : failure, times),
    storm: api.storm,
    limitRate(isOn = true) {
      api.isRateLimited = isOn
    },
    async close() {
      hub.close()
      sockets.close()
      if (server.listening) await goDown()
    },
  }
  standIn.addUser(identity.botUserId, 'quarterdeck')
  standIn.addUser('U0ANA', 'ana')
  standIn.addUser('U0BEN', 'ben')
  standIn.addChannel('C0OPS', 'ops')
  return standIn
}

/** Another process may hold the port for a moment after this one has let it go. */
async function listen(server: http.Server, port: number, triesLeft = 100): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    if (triesLeft === 0) throw error
    await new Promise((resolve) => setTimeout(resolve, 100))
    return await listen(server, port, triesLeft - 1)
  }
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

interface Exchange {
  request: http.IncomingMessage
  response: http.ServerResponse
  workspace: SlackWorkspace
  api: WebApi
  uploads: Map<string, Upload>
  botToken: string
  respond(path: string, body: unknown): { status: number; body: string }
}

async function answerRequest({
  request,
  response,
  workspace,
  api,
  uploads,
  botToken,
  respond,
}: Exchange): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', workspace.baseUrl)
  const body = await bodyOf(request)
  const bearer = request.headers.authorization?.replace(/^Bearer /, '') ?? null
  const send = (status: number, text: string | Buffer, headers: http.OutgoingHttpHeaders = {}) =>
    void response.writeHead(status, headers).end(text)

  if (pathname.startsWith('/api/')) {
    const args = argumentsOf(body, request.headers['content-type'])
    const answer = await api.call(pathname.slice('/api/'.length), args, bearer ?? args.token ?? null)
    if (answer === null) request.socket.destroy()
    else send(answer.status, answer.body, answer.headers)
    return
  }
  if (pathname.startsWith('/actions/')) {
    const answer = respond(pathname, JSON.parse(body.toString()))
    return send(answer.status, answer.body)
  }
  if (pathname.startsWith('/upload/v1/')) {
    const upload = uploads.get(pathname.slice('/upload/v1/'.length))
    if (upload === undefined) return send(404, 'not found')
    const content = await uploadedContent(body, request.headers['content-type'])
    if (content.length !== upload.length) return send(400, 'the length is not what was announced')
    upload.content = content
    return send(200, `OK - ${content.length}`)
  }
  if (pathname.startsWith('/files-pri/')) {
    const file = workspace.files.get(pathname.split('/')[2]?.replace(`${workspace.identity.teamId}-`, '') ?? '')
    const isAllowed = bearer === botToken && api.tokens.bot === 'valid' && api.scopes.includes('files:read')
    // Slack shows its page for signing in to whoever may not read a file: 200 and HTML, in place of the content.
    if (!isAllowed) return send(302, '', { location: '/signin' })
    if (file === undefined) return send(404, 'not found')
    return send(200, file.content, { 'content-type': 'application/octet-stream' })
  }
  if (pathname === '/signin') return send(200, '<!DOCTYPE html><html>Sign in</html>', { 'content-type': 'text/html' })
  send(404, 'not found')
}

async function bodyOf(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function argumentsOf(body: Buffer, type = ''): ApiArguments {
  if (!type.startsWith('application/json')) return Object.fromEntries(new URLSearchParams(body.toString()))
  const parsed: unknown = JSON.parse(body.toString())
  if (!isRecord(parsed)) return {}
  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, asText(value)]))
}

/** The client sends a form with one file; others send the bytes. */
async function uploadedContent(body: Buffer, type = ''): Promise<Buffer> {
  if (!type.startsWith('multipart/form-data')) return body
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  for (const value of form.values()) if (typeof value !== 'string') return Buffer.from(await value.arrayBuffer())
  throw new Error('the form has no file')
}
