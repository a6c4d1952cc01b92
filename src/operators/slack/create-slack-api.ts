// Slack's Web API in our words.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Logger } from '../../domain/logger.ts'
import type { AnswerFile } from '../commands/answer.ts'
import { neededScopes } from './app-manifest.ts'
import type { SlackMessage } from './cards/blocks.ts'
import type { PostPace, PostUrgency } from './post-pace.ts'
import { CALL_MS, type CallerDeps, createSlackCaller, type SlackCaller, textOf } from './slack-caller.ts'
import { kindOf, SlackFailure } from './slack-failure.ts'

interface SlackApiDeps extends CallerDeps {
  /** Whether somebody with this Slack id is one of our people. */
  isPerson(user: string): boolean
  pace: PostPace
  logger: Logger
}

const PAGE = 200
/** Pages of history that are looked through. More is not worth the time: a message that far back was not posted a moment ago. */
const MOST_PAGES = 10
const EVENT_TYPE = 'quarterdeck'

export function createSlackApi(deps: SlackApiDeps) {
  const caller = createSlackCaller(deps)
  return {
    self: caller.self,
    check: createCheck(deps, caller),
    ...messageCalls(deps, caller),
    ...fileCalls(deps, caller),
    ...historyCalls(deps, caller),
  }
}

export type SlackCalls = ReturnType<typeof createSlackApi>

/** Asks Slack who we are and how the rooms are, and tells the health. Never throws. */
function createCheck({ health }: SlackApiDeps, { ask, self, forgetSelf }: SlackCaller) {
  /** Whether it is private. */
  async function checkCapacity(room: string): Promise<boolean> {
    const { channel } = await ask('conversations.info', room, { channel: room })
    const facts = isRecord(channel) ? channel : {}
    health.room(room, facts.is_archived === true ? 'is_archived' : facts.is_member === false ? 'not_in_channel' : null)
    return facts.is_private === true
  }

  return async (rooms: readonly string[]): Promise<void> => {
    forgetSelf()
    try {
      const { scopes } = await self()
      const kinds = new Set<boolean>()
      // One after the other: Slack allows few of these calls a minute.
      for (const room of rooms)
        await checkCapacity(room).then(
          (isPrivate) => kinds.add(isPrivate),
          () => {},
        )
      const needed = new Set([...kinds].flatMap(neededScopes))
      // Slack tells them in a header, which a proxy may have removed.
      if (scopes.length > 0) health.scopes([...needed].filter((scope) => !scopes.includes(scope)))
    } catch {
      // The health knows it by now.
    }
  }
}

interface Posting {
  thread: string | null
  key: string
  urgency?: PostUrgency
  signal?: AbortSignal
}

function messageCalls(deps: SlackApiDeps, { ask, call, self, refuseBlocked }: SlackCaller) {
  const { apiUrl, pace, logger } = deps

  /** Tries a message, then its plain text if Slack refuses the rest of it. That is our mistake, but nobody may miss what it says. */
  async function orPlain<T>(message: SlackMessage, send: (content: Content) => Promise<T>): Promise<T> {
    try {
      return await send(contentOf(message))
    } catch (error) {
      if (!(error instanceof SlackFailure) || kindOf(error) !== 'content') throw error
      logger.error('Slack refused a message of ours, so only its text was sent', { error })
      return await send({ text: `${message.text}\nSlack could not show the rest. Open the console.`, blocks: [] })
    }
  }

  return {
    /** Posts a message and gives its `ts`. `key` stays with the message, so that `keys` finds it. Throws `DeliveryFailed`. */
    async post(room: string, message: SlackMessage, how: Posting): Promise<string> {
      const { thread, key, urgency = 'answer', signal } = how
      await self()
      refuseBlocked('chat.postMessage', room)
      await pace(room, urgency, signal)
      const metadata = { event_type: EVENT_TYPE, event_payload: { key } }
      const fixed = { channel: room, metadata, parse: 'none', unfurl_links: false, unfurl_media: false }
      const where = thread === null ? {} : { thread_ts: thread }
      const posted = await orPlain(message, (content) =>
        ask('chat.postMessage', room, { ...fixed, ...where, ...content }),
      )
      const ts = textOf(posted.ts)
      if (ts === null) throw new SlackFailure('chat.postMessage', null, { isUnclear: true })
      return ts
    },

    /** Replaces a message. A message that somebody has deleted is not an error. */
    async update(room: string, ts: string, message: SlackMessage): Promise<void> {
      await self()
      try {
        await orPlain(message, (content) =>
          // Its key stays: what is left out of an update stays as it is.
          ask('chat.update', room, { channel: room, ts, parse: 'none', ...content }),
        )
      } catch (error) {
        const kind = error instanceof SlackFailure ? kindOf(error) : null
        if (kind === 'unchangeable') logger.warn('a message in Slack could not be brought up to date', { error })
        else if (kind !== 'gone') throw error
      }
    },

    /** Says something that only this person sees. */
    async whisper(room: string, user: string, message: SlackMessage, thread: string | null): Promise<void> {
      await self()
      const where = thread === null ? {} : { thread_ts: thread }
      await orPlain(message, (content) =>
        ask('chat.postEphemeral', room, { channel: room, user, parse: 'none', ...where, ...content }),
      )
    },

    /**
     * Answers a slash command or a button, seen by this person alone. `replace`: in place of the message with the button. Slack takes
     * five answers within half an hour.
     */
    async respond(responseUrl: string, message: SlackMessage, { replace } = { replace: false }): Promise<void> {
      const url = slackUrl(responseUrl, apiUrl)
      await orPlain(message, (content) =>
        call('response_url', null, async () => {
          const body = JSON.stringify({ response_type: 'ephemeral', replace_original: replace, ...content })
          const headers = { 'content-type': 'application/json; charset=utf-8' }
          const signal = AbortSignal.timeout(CALL_MS)
          const response = await deps.fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
          const said = (await response.text()).slice(0, 1_000)
          if (response.ok) return
          throw new SlackFailure('response_url', /"error":"(\w+)"/.exec(said)?.[1] ?? null, {
            message: `Slack refused an answer with HTTP status ${response.status}.`,
          })
        }),
      )
    },
  }
}

function fileCalls(deps: SlackApiDeps, { ask, call, self }: SlackCaller) {
  const { apiUrl, botToken } = deps
  return {
    /** `thread` null: at the top of the room. */
    async upload(room: string, thread: string | null, file: Omit<AnswerFile, 'to'>): Promise<void> {
      await self()
      const bytes = new TextEncoder().encode(file.content === '' ? '\n' : file.content)
      const { name, snippetType } = file
      const wanted = { filename: name, length: bytes.length, snippet_type: snippetType }
      const { upload_url: to, file_id: id } = await ask('files.getUploadURLExternal', room, wanted)
      await call('files.upload', room, async () => {
        const signal = AbortSignal.timeout(CALL_MS)
        const headers = { 'content-type': 'application/octet-stream' }
        // Without the token: the address itself is the permission.
        const url = slackUrl(textOf(to) ?? '', apiUrl)
        const response = await deps.fetch(url, { method: 'POST', headers, body: bytes, redirect: 'error', signal })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`HTTP status ${response.status}`)
      })
      const where = { channel_id: room, ...(thread === null ? {} : { thread_ts: thread }) }
      await ask('files.completeUploadExternal', room, { files: [{ id, title: name }], ...where })
    },

    /** The bytes of a file that a person attached. Throws `invalid_request` when it has more than `mostBytes`. */
    async download(fileUrl: string, mostBytes: number): Promise<Uint8Array> {
      const url = slackUrl(fileUrl, apiUrl)
      return await call('files.download', null, async () => {
        const headers = { authorization: `Bearer ${botToken}` }
        const signal = AbortSignal.timeout(CALL_MS)
        const response = await deps.fetch(url, { headers, redirect: 'manual', signal })
        // Slack shows its page for signing in to whoever may not read a file.
        const isPage = response.headers.get('content-type')?.startsWith('text/html') && !/\.html?$/i.test(url.pathname)
        if (response.status !== 200 || isPage) {
          await response.body?.cancel()
          throw new SlackFailure('files.download', 'missing_scope', { neededScope: 'files:read' })
        }
        return await bytesOf(response, mostBytes)
      })
    },
  }
}

function historyCalls({ isPerson }: SlackApiDeps, { ask, self }: SlackCaller) {
  async function pages(
    method: 'conversations.history' | 'conversations.replies',
    room: string,
    args: Record<string, unknown>,
    look: (messages: readonly Record<string, unknown>[]) => boolean,
  ): Promise<boolean> {
    let cursor: string | undefined
    for (let i = 0; i < MOST_PAGES; i += 1) {
      const asked = { channel: room, limit: PAGE, ...args, ...(cursor === undefined ? {} : { cursor }) }
      const page = await ask(method, room, asked)
      const isEnough = look(Array.isArray(page.messages) ? page.messages.filter(isRecord) : [])
      cursor = page.response_metadata?.next_cursor ?? ''
      if (cursor === '') return false
      if (isEnough) return true
    }
    return true
  }

  /**
   * The keys of our messages in a thread, or in the room since `since` (epoch ms) if `thread` is null, each with its `ts`. The key of a
   * file is `file/` and its name.
   */
  async function keys(room: string, thread: string | null, since?: number): Promise<ReadonlyMap<string, string>> {
    const { botId, botUserId } = await self()
    const found = new Map<string, string>()
    const isOurs = (message: Record<string, unknown>) =>
      message.user === botUserId || (botId !== null && message.bot_id === botId)
    const look = (messages: readonly Record<string, unknown>[]): boolean => {
      for (const message of messages) {
        if (!isOurs(message) || typeof message.ts !== 'string') continue
        for (const key of keysOf(message)) if (!found.has(key)) found.set(key, message.ts)
      }
      return false
    }
    const oldest = since === undefined ? {} : { oldest: (since / 1_000).toFixed(6) }
    try {
      if (thread === null) {
        await pages('conversations.history', room, { include_all_metadata: true, ...oldest }, look)
      } else await pages('conversations.replies', room, { ts: thread, include_all_metadata: true, ...oldest }, look)
    } catch (error) {
      if (!(error instanceof SlackFailure) || kindOf(error) !== 'gone') throw error
    }
    return found
  }

  return {
    keys,

    /** The newest messages of people in a room, oldest first. */
    async recent(room: string, limit: number) {
      const messages: RoomMessage[] = []
      const hasMore = await pages('conversations.history', room, {}, (page) => {
        for (const message of page) {
          const one = personMessage(message)
          if (one !== null && isPerson(one.user)) messages.push(one)
        }
        return messages.length > limit
      })
      return { messages: messages.slice(0, limit).reverse(), hasMore: hasMore || messages.length > limit }
    },
  }
}

type Content = Pick<SlackMessage, 'text' | 'blocks'>

const contentOf = ({ text, blocks }: SlackMessage): Content => ({ text, blocks })

/** The key of a message of ours, and the names of its files. */
function keysOf({ metadata, files }: Record<string, unknown>): string[] {
  const payload = isRecord(metadata) && metadata.event_type === EVENT_TYPE ? metadata.event_payload : null
  const key = isRecord(payload) ? textOf(payload.key) : null
  const names = Array.isArray(files) ? files.filter(isRecord).map(({ name }) => `file/${textOf(name) ?? ''}`) : []
  return key === null ? names : [key, ...names]
}

/** Subtypes of messages that people write. The others tell what happened in the room. */
const WRITTEN: readonly unknown[] = [undefined, 'thread_broadcast', 'file_share', 'me_message']

interface RoomMessage {
  ts: string
  user: string
  text: string
  threadTs: string | null
}

function personMessage({ ts, user, text, thread_ts, bot_id, subtype }: Record<string, unknown>): RoomMessage | null {
  if (bot_id !== undefined || !WRITTEN.includes(subtype)) return null
  if (typeof ts !== 'string' || typeof user !== 'string' || typeof text !== 'string') return null
  return { ts, user, text, threadTs: textOf(thread_ts) }
}

/** Slack's tokens and our answers go to Slack alone. Throws when the address is another one. */
function slackUrl(text: string, apiUrl: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isSlack = url?.protocol === 'https:' && /(^|\.)(slack|slack-gov)\.com$/.test(url.hostname)
  if (url !== null && (isSlack || url.origin === new URL(apiUrl).origin)) return url
  throw new ServerError('invalid_request', 'This is not an address of Slack. Nothing was sent there.')
}

async function bytesOf(response: Response, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > most)
      throw new ServerError('invalid_request', `The file has more than ${most.toLocaleString('en')} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
