// The state of the stand-in: people, channels, messages with all their versions, files.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { SlackBlock } from './check-blocks.ts'

export interface SlackUser {
  id: string
  name: string
}

export interface SlackChannel {
  id: string
  name: string
  /** User ids; the bot is one of them if it was invited. */
  members: Set<string>
  isPrivate: boolean
  isArchived: boolean
}

export interface SlackFile {
  id: string
  name: string
  title: string
  /** Of a snippet: its `snippet_type`, such as `diff`. */
  filetype: string
  isSnippet: boolean
  user: string
  content: Buffer
}

export interface MessageMetadata {
  event_type: string
  event_payload: Record<string, unknown>
}

/** What a post or an update made of a message. */
export interface MessageVersion {
  text: string
  blocks: readonly SlackBlock[]
  metadata: MessageMetadata | null
  /** Epoch milliseconds. */
  at: number
}

export interface SlackMessage {
  channel: string
  ts: string
  /** Of the thread that it answers in; null at the top of the channel. */
  threadTs: string | null
  /** User id of the author; the bot's for the messages of the app. */
  user: string
  files: readonly SlackFile[]
  /** Only this user sees the message. Null: everybody does. */
  ephemeralTo: string | null
  isDeleted: boolean
  /** Oldest first. The last one is what people see. */
  versions: readonly MessageVersion[]
}

/** What people see of a message now. */
export interface ShownMessage extends SlackMessage, MessageVersion {}

export interface NewMessage {
  channel: string
  user: string
  text: string
  blocks?: readonly SlackBlock[]
  threadTs?: string | null
  metadata?: MessageMetadata | null
  files?: readonly SlackFile[]
  ephemeralTo?: string | null
}

export interface SlackIdentity {
  teamId: string
  teamDomain: string
  appId: string
  botUserId: string
  botId: string
}

export interface SlackWorkspace {
  readonly identity: SlackIdentity
  readonly users: Map<string, SlackUser>
  readonly channels: Map<string, SlackChannel>
  readonly files: Map<string, SlackFile>
  /** Where files are downloaded. Set when the server listens. */
  baseUrl: string
  post(message: NewMessage): ShownMessage
  /** What is left out stays as it is. */
  update(message: SlackMessage, change: Partial<Pick<MessageVersion, 'text' | 'blocks' | 'metadata'>>): ShownMessage
  remove(message: SlackMessage): void
  find(channel: string, ts: string): ShownMessage | null
  /** Oldest first, deleted ones included. */
  all(channel: string): ShownMessage[]
  addFile(file: Omit<SlackFile, 'id'> & { id?: string }): SlackFile
  /** The message as Slack's API and events show it. */
  onWire(message: ShownMessage, withMetadata: boolean): Record<string, unknown>
  fileOnWire(file: SlackFile): Record<string, unknown>
  newTs(): string
}

export const newSecret = (): string => randomBytes(12).toString('base64url')

export function createSlackWorkspace(clock: Clock, identity: SlackIdentity): SlackWorkspace {
  const messages = new Map<string, SlackMessage & { versions: MessageVersion[] }>()
  const files = new Map<string, SlackFile>()
  let lastMicroseconds = 0
  let count = 0

  /** A time in microseconds that names a message, so no two are the same. */
  function newTs(): string {
    lastMicroseconds = Math.max(Math.floor(clock.now() * 1_000), lastMicroseconds + 100)
    return `${Math.floor(lastMicroseconds / 1_000_000)}.${String(lastMicroseconds % 1_000_000).padStart(6, '0')}`
  }

  const keyOf = (channel: string, ts: string) => `${channel} ${ts}`

  function shown(message: SlackMessage): ShownMessage {
    const version = message.versions.at(-1)
    if (version === undefined) throw new Error('a message has at least one version')
    return { ...message, versions: [...message.versions], ...version }
  }

  /** Slack names the blocks and buttons that the app left without a name. */
  const named = (blocks: readonly SlackBlock[]): SlackBlock[] =>
    structuredClone(blocks).map((block) => {
      const parts = [...(Array.isArray(block.elements) ? block.elements : []), block.accessory]
      for (const part of parts) if (isRecord(part) && part.type === 'button') part.action_id ??= newSecret()
      return { block_id: `b${++count}`, ...block }
    })

  const workspace: SlackWorkspace = {
    identity,
    users: new Map(),
    channels: new Map(),
    files,
    baseUrl: '',
    newTs,

    post({ channel, user, text, blocks = [], threadTs = null, metadata = null, files: own = [], ephemeralTo = null }) {
      const ts = newTs()
      const version = { text, blocks: named(blocks), metadata, at: clock.now() }
      const message = { channel, ts, threadTs, user, files: own, ephemeralTo, isDeleted: false, versions: [version] }
      messages.set(keyOf(channel, ts), message)
      return shown(message)
    },

    update({ channel, ts }, { text, blocks, metadata }) {
      const message = messages.get(keyOf(channel, ts))
      const before = message?.versions.at(-1)
      if (message === undefined || before === undefined) throw new Error(`there is no message ${ts}`)
      message.versions.push({
        text: text ?? before.text,
        blocks: blocks === undefined ? before.blocks : named(blocks),
        metadata: metadata === undefined ? before.metadata : metadata,
        at: clock.now(),
      })
      return shown(message)
    },

    remove({ channel, ts }) {
      const message = messages.get(keyOf(channel, ts))
      if (message !== undefined) message.isDeleted = true
    },

    find(channel, ts) {
      const message = messages.get(keyOf(channel, ts))
      return message === undefined || message.isDeleted ? null : shown(message)
    },

    all: (channel) => [...messages.values()].filter((message) => message.channel === channel).map(shown),

    addFile(file) {
      const added = { id: `F${newSecret()}`, ...file }
      files.set(added.id, added)
      return added
    },

    onWire(message, withMetadata) {
      const { channel, ts, threadTs, user, text, blocks, metadata, versions } = message
      const replies = [...messages.values()].filter(
        (other) => other.channel === channel && other.threadTs === ts && other.ephemeralTo === null && !other.isDeleted,
      )
      return {
        type: 'message',
        ...(message.files.length > 0 && { subtype: 'file_share', upload: false }),
        user,
        ts,
        text,
        team: identity.teamId,
        ...(user === identity.botUserId && { bot_id: identity.botId, app_id: identity.appId }),
        ...(blocks.length > 0 && { blocks }),
        ...(message.files.length > 0 && { files: message.files.map(workspace.fileOnWire) }),
        ...(versions.length > 1 && {
          edited: { user, ts: `${Math.floor((versions.at(-1)?.at ?? 0) / 1_000)}.000000` },
        }),
        ...(threadTs !== null && { thread_ts: threadTs, parent_user_id: messages.get(keyOf(channel, threadTs))?.user }),
        ...(replies.length > 0 && { thread_ts: ts, reply_count: replies.length, latest_reply: replies.at(-1)?.ts }),
        ...(withMetadata && metadata !== null && { metadata }),
      }
    },

    fileOnWire({ id, name, title, filetype, isSnippet, user, content }) {
      const url = `${workspace.baseUrl}/files-pri/${identity.teamId}-${id}`
      return {
        id,
        name,
        title,
        filetype,
        mimetype: 'text/plain',
        mode: isSnippet ? 'snippet' : 'hosted',
        user,
        size: content.length,
        is_external: false,
        url_private: `${url}/${encodeURIComponent(name)}`,
        url_private_download: `${url}/download/${encodeURIComponent(name)}`,
      }
    },
  }
  return workspace
}
