// Notifications on a phone through an ntfy server, one topic for each operator. Whoever knows the topic can read it, and often also write to it:
// so nothing can be decided there, and its one button opens the console.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import type { ChannelParts, OpenedChannels } from '../channel-parts.ts'
import type { Notification } from '../notifications/notification.ts'
import type { CreateChannel } from '../operator.ts'
import { createPersonalChannel, type PersonToTell, peopleToTell } from '../people/personal-channel.ts'
import type { NtfySettings } from './channel.ts'

export interface NtfyOptions extends PersonToTell {
  /** Address of the server. */
  server: string
  topic: string
  token: string | null
}

/** One for each operator who has a topic. */
export async function openNtfyChannels(parts: ChannelParts<NtfySettings, 'ntfy_token'>): Promise<OpenedChannels> {
  const { settings, credentials } = parts
  const channels = peopleToTell(parts).flatMap(({ contacts: { ntfy: topic }, ...person }) =>
    topic === undefined ? [] : createNtfy({ ...person, server: settings.url, topic, token: credentials.ntfy_token }),
  )
  return { channels, chat: null }
}

/** What is noted about a message: whether the server can replace it. Servers before 2.16 cannot, and would show a second one. */
const REPLACEABLE = 'replaceable'
const FINAL = 'final'

export function createNtfy({ person, server, topic, token, post, ...options }: NtfyOptions): CreateChannel {
  const url = new URL(server)
  const headers = {
    'content-type': 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  }
  return createPersonalChannel({
    ...options,
    name: `ntfy:${person}`,
    person,
    async show({ notification, ref }, signal) {
      if (ref?.startsWith(FINAL) === true && !notification.isNews) return null
      const body = JSON.stringify(messageOf(notification, topic))
      const { text } = await post({ url, headers, body, isOurs: true }, signal)
      return isReplaceable(text, notification) ? REPLACEABLE : FINAL
    },
  })
}

/** https://docs.ntfy.sh/publish/#publish-as-json */
const messageOf = (notification: Notification, topic: string) => ({
  topic,
  title: notification.title,
  message: notification.body,
  priority: notification.isNews ? priorityOf[notification.risk ?? 'low'] : SILENT,
  tags: [notification.isNews ? tagOf[notification.risk ?? 'low'] : 'ballot_box_with_check'],
  sequence_id: notification.key,
  // A server inside another program may not know where people open it.
  ...(URL.canParse(notification.link)
    ? { click: notification.link, actions: [{ action: 'view', label: 'Open', url: notification.link }] }
    : {}),
})

const SILENT = 1
const priorityOf: Record<Risk, number> = { low: 3, high: 4, critical: 5 }
/** Their names are those of emoji, which ntfy puts before the title. */
const tagOf: Record<Risk, string> = { low: 'raised_hand', high: 'warning', critical: 'rotating_light' }

/** A server that knows the sequence of a message names it in its answer. */
function isReplaceable(answer: string, { key }: Notification): boolean {
  const message = jsonIn(answer)
  return isRecord(message) && message.sequence_id === key
}
