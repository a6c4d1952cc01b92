// What people do in Slack, as the payloads that an app gets of it.

import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { SlackBlock } from './check-blocks.ts'
import type { ResponseUrls } from './response-urls.ts'
import { newSecret, type ShownMessage, type SlackMessage, type SlackWorkspace } from './slack-workspace.ts'
import type { Ack, SocketHub } from './socket-hub.ts'

export interface Click {
  user: string
  channel: string
  ts: string
  actionId: string
  /** The id of another workspace, as in a shared channel. */
  team?: string
  /** The person still sees an earlier version of the message, with a button that has gone by now. */
  stale?: boolean
}

export interface Reply {
  user: string
  channel: string
  /** The message whose thread this is; null for a message at the top of the channel. */
  thread: string | null
  /** As the person types it. Slack escapes it and marks links. */
  text: string
  files?: readonly { name: string; content: string | Buffer }[]
  team?: string
}

export interface SlashCommand {
  user: string
  channel: string
  text: string
  /** `/quarterdeck` if left out. */
  command?: string
  team?: string
}

export interface People {
  click(click: Click): Promise<Ack>
  /** The acknowledgement, and the `ts` of what the person wrote. */
  reply(reply: Reply): Promise<Ack & { ts: string }>
  slash(command: SlashCommand): Promise<Ack>
  /** Sends an event of the Events API. */
  tell(event: Record<string, unknown> & { type: string }, team?: string): Promise<Ack>
}

/** Buttons of a message, in its blocks and beside its sections. */
export interface ShownButton {
  actionId: string
  blockId: string
  /** The label. */
  text: string
  value: string | null
  url: string | null
  style: string | null
  hasConfirm: boolean
  /** As it was posted. */
  element: Record<string, unknown>
}

export function buttonsOf({ blocks }: { blocks: readonly SlackBlock[] }): ShownButton[] {
  return blocks.flatMap((block) => {
    const elements: unknown[] = [...(Array.isArray(block.elements) ? block.elements : []), block.accessory]
    return elements.filter(isRecord).flatMap((element) => {
      if (element.type !== 'button') return []
      const orNull = (value: unknown) => (typeof value === 'string' ? value : null)
      return [
        {
          actionId: String(element.action_id),
          blockId: String(block.block_id),
          text: isRecord(element.text) ? String(element.text.text) : '',
          value: orNull(element.value),
          url: orNull(element.url),
          style: orNull(element.style),
          hasConfirm: element.confirm !== undefined,
          element,
        },
      ]
    })
  })
}

interface PeopleDeps {
  workspace: SlackWorkspace
  hub: Pick<SocketHub, 'deliver'>
  responseUrls: ResponseUrls
  clock: Clock
}

export function createPeople({ workspace, hub, responseUrls, clock }: PeopleDeps): People {
  const { identity } = workspace
  const nameOf = (user: string) => workspace.users.get(user)?.name ?? user.toLowerCase()
  const channelOf = (id: string) => {
    const channel = workspace.channels.get(id)
    if (channel === undefined) throw new Error(`there is no channel ${id}`)
    return channel
  }

  function tell(event: Record<string, unknown> & { type: string }, team = identity.teamId): Promise<Ack> {
    const payload = {
      token: 'verification',
      team_id: team,
      api_app_id: identity.appId,
      event: { ...event, event_ts: event.event_ts ?? workspace.newTs() },
      type: 'event_callback',
      event_id: `Ev${newSecret()}`,
      event_time: Math.floor(clock.now() / 1_000),
      authorizations: [{ team_id: identity.teamId, user_id: identity.botUserId, is_bot: true }],
    }
    return hub.deliver('events_api', payload, false)
  }

  return {
    tell,

    async click({ user, channel, ts, actionId, team = identity.teamId, stale = false }) {
      const message = workspace.find(channel, ts) ?? (stale ? lastSeen(workspace, channel, ts) : null)
      if (message === null) throw new Error(`there is no message ${ts} in ${channel}`)
      if (message.ephemeralTo !== null && message.ephemeralTo !== user) throw new Error(`${user} cannot see ${ts}`)
      const { button, seen } = findButton(message, actionId, stale)
      const payload = {
        type: 'block_actions',
        user: { id: user, username: nameOf(user), name: nameOf(user), team_id: team },
        api_app_id: identity.appId,
        token: 'verification',
        container: {
          type: 'message',
          message_ts: ts,
          channel_id: channel,
          is_ephemeral: message.ephemeralTo !== null,
          ...(message.threadTs !== null && { thread_ts: message.threadTs }),
        },
        trigger_id: `${clock.now()}.${newSecret()}`,
        team: { id: team, domain: team === identity.teamId ? identity.teamDomain : 'elsewhere' },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: channel, name: channelOf(channel).name },
        // Slack leaves out the message where only one person sees it.
        ...(message.ephemeralTo === null && { message: workspace.onWire(seen, true) }),
        state: { values: {} },
        response_url: responseUrls.create(channel, user, ts),
        actions: [
          {
            action_id: actionId,
            block_id: button.blockId,
            text: button.element.text,
            ...(button.value !== null && { value: button.value }),
            ...(button.style !== null && { style: button.style }),
            type: 'button',
            action_ts: workspace.newTs(),
          },
        ],
      }
      return await hub.deliver('interactive', payload, false)
    },

    async reply({ user, channel, thread, text, files = [], team = identity.teamId }) {
      if (!channelOf(channel).members.has(identity.botUserId)) throw new Error(`the bot is not in ${channel}`)
      const added = files.map(({ name, content }) => {
        const filetype = name.split('.').at(-1) ?? 'text'
        return workspace.addFile({ name, title: name, filetype, isSnippet: false, user, content: Buffer.from(content) })
      })
      const message = workspace.post({ channel, user, text: asTyped(text), threadTs: thread, files: added })
      const event = { ...workspace.onWire(message, false), type: 'message', channel, event_ts: message.ts }
      const channelType = channelOf(channel).isPrivate ? 'group' : 'channel'
      const ack = await tell({ ...event, team, channel_type: channelType }, team)
      return { ...ack, ts: message.ts }
    },

    async slash({ user, channel, text, command = '/quarterdeck', team = identity.teamId }) {
      const payload = {
        token: 'verification',
        team_id: team,
        team_domain: identity.teamDomain,
        channel_id: channel,
        channel_name: channelOf(channel).name,
        user_id: user,
        user_name: nameOf(user),
        command,
        text,
        api_app_id: identity.appId,
        is_enterprise_install: 'false',
        response_url: responseUrls.create(channel, user, null),
        trigger_id: `${clock.now()}.${newSecret()}`,
      }
      const ack = await hub.deliver('slash_commands', payload, true)
      if (ack.payload !== null) responseUrls.show({ channel, user, messageTs: null }, ack.payload)
      return ack
    },
  }
}

/** A message that was deleted, as somebody who has not noticed sees it. */
const lastSeen = (workspace: SlackWorkspace, channel: string, ts: string): ShownMessage | null =>
  workspace.all(channel).find((message) => message.ts === ts) ?? null

function findButton(message: SlackMessage, actionId: string, stale: boolean) {
  const versions = stale ? message.versions.toReversed() : message.versions.slice(-1)
  for (const version of versions) {
    const button = buttonsOf(version).find((candidate) => candidate.actionId === actionId)
    if (button !== undefined) return { button, seen: { ...message, ...version } }
  }
  throw new Error(`message ${message.ts} has no button ${actionId}`)
}

/** Slack stores what people type with `&`, `<` and `>` escaped and links in angle brackets. */
const asTyped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/https?:\/\/[^\s&]+/g, '<$&>')
