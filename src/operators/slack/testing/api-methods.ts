// The methods of Slack's Web API that a channel for operators needs, with Slack's limits and the names of its errors.

import { isRecord } from '../../../domain/is-record.ts'
import { areBlocksTooLong, checkBlocks, type SlackBlock } from './check-blocks.ts'
import {
  type MessageMetadata,
  newSecret,
  type ShownMessage,
  type SlackChannel,
  type SlackFile,
  type SlackWorkspace,
} from './slack-workspace.ts'

/** Arguments of a call: all are strings, and lists and objects are JSON. */
export type ApiArguments = Readonly<Record<string, string>>

/** An answer with `ok: false`. */
export class SlackRefusal extends Error {
  readonly error: string
  readonly extra: Record<string, unknown>

  constructor(error: string, extra: Record<string, unknown> = {}) {
    super(error)
    this.error = error
    this.extra = extra
  }
}

export interface ApiMethod {
  /** The bot's token needs this scope. Null: none. */
  scope: string | null
  /** The method is called with the token of the app, not of the bot. */
  forApp?: boolean
  call(args: ApiArguments): Record<string, unknown>
}

/** A file that was announced. Its content comes in a request of its own. */
export interface Upload {
  name: string
  length: number
  snippetType: string | null
  content: Buffer | null
}

export interface ApiDeps {
  workspace: SlackWorkspace
  /** By the id of the file, which is also in their URL. */
  uploads: Map<string, Upload>
  /** The address of a new socket. */
  openConnection(): string
  revoke(): void
  /** Tells the app what it did itself, as Slack does. */
  onPost(message: ShownMessage): void
  onUpdate(before: ShownMessage, after: ShownMessage): void
}

const MAX_TEXT = 40_000
/** Slack takes less text in an update than in a new message. */
const MAX_UPDATED_TEXT = 4_000

export function createApiMethods(deps: ApiDeps): Record<string, ApiMethod> {
  return { ...accountMethods(deps), ...chatMethods(deps), ...conversationMethods(deps), ...fileMethods(deps) }
}

function accountMethods({ workspace, openConnection, revoke }: ApiDeps): Record<string, ApiMethod> {
  const { teamId, teamDomain, botUserId, botId } = workspace.identity
  return {
    'auth.test': {
      scope: null,
      call: () => ({
        url: `https://${teamDomain}.slack.com/`,
        team: teamDomain,
        user: workspace.users.get(botUserId)?.name,
        team_id: teamId,
        user_id: botUserId,
        bot_id: botId,
        is_enterprise_install: false,
      }),
    },
    'auth.revoke': {
      scope: null,
      call() {
        revoke()
        return { revoked: true }
      },
    },
    'apps.connections.open': { scope: null, forApp: true, call: () => ({ url: openConnection() }) },
    'users.info': {
      scope: 'users:read',
      call({ user = '' }) {
        const found = workspace.users.get(user)
        if (found === undefined) throw new SlackRefusal('user_not_found')
        const profile = { real_name: found.name, display_name: found.name }
        const isBot = found.id === botUserId
        return { user: { ...found, team_id: teamId, real_name: found.name, profile, is_bot: isBot, deleted: false } }
      },
    },
  }
}

function chatMethods({ workspace, onPost, onUpdate }: ApiDeps): Record<string, ApiMethod> {
  const { botUserId, teamDomain } = workspace.identity

  function post(args: ApiArguments, ephemeralTo: string | null): ShownMessage {
    const channel = writableChannel(workspace, args.channel)
    const content = contentOf(args, MAX_TEXT)
    if (content.text === '' && content.blocks.length === 0) throw new SlackRefusal('no_text')
    if (ephemeralTo !== null && !channel.members.has(ephemeralTo)) throw new SlackRefusal('user_not_in_channel')
    const threadTs = threadOf(workspace, channel, args.thread_ts)
    const metadata = metadataOf(args.metadata) ?? null
    return workspace.post({ channel: channel.id, user: botUserId, ...content, threadTs, metadata, ephemeralTo })
  }

  return {
    'chat.postMessage': {
      scope: 'chat:write',
      call(args) {
        const message = post(args, null)
        onPost(message)
        return { channel: message.channel, ts: message.ts, message: workspace.onWire(message, true) }
      },
    },
    'chat.postEphemeral': {
      scope: 'chat:write',
      call: (args) => ({ message_ts: post(args, args.user ?? '').ts }),
    },
    'chat.update': {
      scope: 'chat:write',
      call(args) {
        const channel = readableChannel(workspace, args.channel)
        if (channel.isArchived) throw new SlackRefusal('is_inactive')
        const before = workspace.find(channel.id, args.ts ?? '')
        if (before === null || before.ephemeralTo !== null) throw new SlackRefusal('message_not_found')
        if (before.user !== botUserId) throw new SlackRefusal('cant_update_message')
        const { text, blocks } = contentOf(args, MAX_UPDATED_TEXT)
        const change = {
          ...(args.text !== undefined && { text }),
          ...(args.blocks !== undefined && { blocks }),
          ...(args.metadata !== undefined && { metadata: metadataOf(args.metadata) ?? null }),
        }
        if (Object.keys(change).length === 0) throw new SlackRefusal('no_text')
        const shownText = change.text ?? before.text
        if (shownText === '' && (change.blocks ?? before.blocks).length === 0) throw new SlackRefusal('no_text')
        const after = workspace.update(before, change)
        onUpdate(before, after)
        return { channel: channel.id, ts: after.ts, text: after.text, message: workspace.onWire(after, true) }
      },
    },
    'chat.getPermalink': {
      scope: null,
      call(args) {
        const channel = readableChannel(workspace, args.channel)
        const message = workspace.find(channel.id, args.message_ts ?? '')
        if (message === null || message.ephemeralTo !== null) throw new SlackRefusal('message_not_found')
        const { ts, threadTs } = message
        const query = threadTs === null ? '' : `?thread_ts=${threadTs}&cid=${channel.id}`
        const permalink = `https://${teamDomain}.slack.com/archives/${channel.id}/p${ts.replace('.', '')}${query}`
        return { channel: channel.id, permalink }
      },
    },
  }
}

function conversationMethods({ workspace }: ApiDeps): Record<string, ApiMethod> {
  const { botUserId, teamId } = workspace.identity

  /** One page of messages, with a cursor to the next one. */
  function page(found: readonly ShownMessage[], args: ApiArguments): Record<string, unknown> {
    const limit = Number(args.limit ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > 999) throw new SlackRefusal('invalid_limit')
    const start = args.cursor === undefined ? 0 : Number(Buffer.from(args.cursor, 'base64').toString())
    if (!Number.isInteger(start)) throw new SlackRefusal('invalid_cursor')
    const hasMore = found.length > start + limit
    const withMetadata = isTrue(args.include_all_metadata)
    return {
      messages: found.slice(start, start + limit).map((message) => workspace.onWire(message, withMetadata)),
      has_more: hasMore,
      response_metadata: { next_cursor: hasMore ? Buffer.from(String(start + limit)).toString('base64') : '' },
    }
  }

  /** Messages that everybody sees, between `oldest` and `latest`. Oldest first. */
  function between(channel: SlackChannel, { oldest = '0', latest = '9999999999', inclusive }: ApiArguments) {
    return workspace.all(channel.id).filter(({ ts, isDeleted, ephemeralTo }) => {
      if (isDeleted || ephemeralTo !== null) return false
      const isInside = Number(ts) > Number(oldest) && Number(ts) < Number(latest)
      return isInside || (isTrue(inclusive) && (ts === oldest || ts === latest))
    })
  }

  return {
    'conversations.info': {
      scope: 'channels:read',
      call({ channel: id = '' }) {
        const channel = workspace.channels.get(id)
        const isMember = channel?.members.has(botUserId) === true
        if (channel === undefined || (channel.isPrivate && !isMember)) throw new SlackRefusal('channel_not_found')
        const { name, isPrivate, isArchived } = channel
        return {
          channel: {
            id,
            name,
            is_channel: !isPrivate,
            is_private: isPrivate,
            is_archived: isArchived,
            is_member: isMember,
            context_team_id: teamId,
          },
        }
      },
    },
    'conversations.history': {
      scope: 'channels:history',
      call(args) {
        const found = between(readableChannel(workspace, args.channel), args)
        return page(found.filter(({ threadTs }) => threadTs === null).reverse(), args)
      },
    },
    'conversations.replies': {
      scope: 'channels:history',
      call(args) {
        const channel = readableChannel(workspace, args.channel)
        const parent = workspace.find(channel.id, args.ts ?? '')
        if (parent === null) throw new SlackRefusal('thread_not_found')
        const rest = between(channel, args).filter(({ threadTs }) => threadTs === parent.ts)
        return page([parent, ...rest], args)
      },
    },
  }
}

function fileMethods({ workspace, uploads, onPost }: ApiDeps): Record<string, ApiMethod> {
  const { botUserId } = workspace.identity

  function finish(wanted: unknown): SlackFile {
    const { id = '', title } = isRecord(wanted) ? wanted : {}
    const upload = uploads.get(String(id))
    if (upload === undefined || upload.content === null) throw new SlackRefusal('file_not_found')
    uploads.delete(String(id))
    return workspace.addFile({
      id: String(id),
      name: upload.name,
      title: typeof title === 'string' ? title : upload.name,
      filetype: upload.snippetType ?? upload.name.split('.').at(-1) ?? 'text',
      isSnippet: upload.snippetType !== null,
      user: botUserId,
      content: upload.content,
    })
  }

  return {
    'files.getUploadURLExternal': {
      scope: 'files:write',
      call({ filename, length, snippet_type: snippetType = null }) {
        const size = Number(length)
        if (!filename || !Number.isInteger(size) || size < 1) throw new SlackRefusal('invalid_arguments')
        const id = `F${newSecret()}`
        uploads.set(id, { name: filename, length: size, snippetType, content: null })
        return { upload_url: `${workspace.baseUrl}/upload/v1/${id}`, file_id: id }
      },
    },
    'files.completeUploadExternal': {
      scope: 'files:write',
      call(args) {
        const wanted: unknown = JSON.parse(args.files ?? '[]')
        if (!Array.isArray(wanted) || wanted.length === 0) throw new SlackRefusal('invalid_arguments')
        const channel = args.channel_id === undefined ? null : writableChannel(workspace, args.channel_id)
        const threadTs = channel === null ? null : threadOf(workspace, channel, args.thread_ts)
        const files = wanted.map(finish)
        if (channel !== null) {
          const text = args.initial_comment ?? ''
          onPost(workspace.post({ channel: channel.id, user: botUserId, text, threadTs, files }))
        }
        return { files: files.map(workspace.fileOnWire) }
      },
    },
    'files.info': {
      scope: 'files:read',
      call({ file: id = '' }) {
        const file = workspace.files.get(id)
        if (file === undefined) throw new SlackRefusal('file_not_found')
        return { file: workspace.fileOnWire(file), ...(file.isSnippet && { content: file.content.toString() }) }
      },
    },
  }
}

const isTrue = (value: string | undefined): boolean => value === 'true' || value === '1'

function readableChannel(workspace: SlackWorkspace, id = ''): SlackChannel {
  const channel = workspace.channels.get(id)
  const isMember = channel?.members.has(workspace.identity.botUserId) === true
  if (channel === undefined || (channel.isPrivate && !isMember)) throw new SlackRefusal('channel_not_found')
  if (!isMember) throw new SlackRefusal('not_in_channel')
  return channel
}

function writableChannel(workspace: SlackWorkspace, id: string | undefined): SlackChannel {
  const channel = workspace.channels.get(id ?? '')
  // Slack looks at the archive first: an archived channel has no members to speak of.
  if (channel?.isArchived === true) throw new SlackRefusal('is_archived')
  return readableChannel(workspace, id)
}

function threadOf(workspace: SlackWorkspace, channel: SlackChannel, ts: string | undefined): string | null {
  if (ts === undefined || ts === '') return null
  const parent = workspace.find(channel.id, ts)
  if (parent === null || parent.threadTs !== null) throw new SlackRefusal('thread_not_found')
  return ts
}

/** Text and blocks of a message, checked as Slack checks them. */
export function contentOf(args: ApiArguments, maxText = MAX_TEXT): { text: string; blocks: readonly SlackBlock[] } {
  const { text = '' } = args
  if (text.length > maxText) throw new SlackRefusal('msg_too_long')
  const blocks = args.blocks === undefined ? [] : parsed(args.blocks, 'invalid_blocks_format')
  if (!Array.isArray(blocks)) throw new SlackRefusal('invalid_blocks_format')
  const errors = checkBlocks(blocks)
  if (errors.length > 0) {
    const messages = errors.map((error) => `[ERROR] ${error}`)
    throw new SlackRefusal('invalid_blocks', { errors, response_metadata: { messages } })
  }
  if (areBlocksTooLong(blocks)) throw new SlackRefusal('msg_blocks_too_long')
  return { text, blocks }
}

/** Undefined: the call has none. An empty object takes away what the message has. */
function metadataOf(text: string | undefined): MessageMetadata | null | undefined {
  if (text === undefined) return undefined
  const metadata = parsed(text, 'invalid_metadata_format')
  if (!isRecord(metadata)) throw new SlackRefusal('invalid_metadata_format')
  const { event_type, event_payload, ...others } = metadata
  if (Object.keys(metadata).length === 0) return null
  const isWhole = typeof event_type === 'string' && event_type !== '' && isRecord(event_payload)
  if (!isWhole || Object.keys(others).length > 0) throw new SlackRefusal('invalid_metadata_format')
  return { event_type, event_payload }
}

function parsed(text: string, error: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SlackRefusal(error)
  }
}
