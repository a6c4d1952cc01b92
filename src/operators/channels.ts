// The kinds of channels, in the order in which docs and `doctor` list them. A new one is a folder here and one line in this list.

import { bellChannel } from './bell/channel.ts'
import type { ChannelKind } from './channel-kind.ts'
import { ntfyChannel } from './ntfy/channel.ts'
import { slackChannel } from './slack/channel.ts'
import { webPushChannel } from './web-push/channel.ts'
import { webhookChannel } from './webhook/channel.ts'

const list = [slackChannel, ntfyChannel, webPushChannel, webhookChannel, bellChannel] as const

/** Whoever goes through it gives each kind what its own `read` made, and does not know what that is. */
export const channels: readonly ChannelKind[] = list

type Both<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void ? All : never

/** The rows of all kinds, for the table of settings. */
export const channelRows: Both<(typeof list)[number]['settings']> = Object.assign(
  {},
  ...list.map(({ settings }) => settings),
)

/** The kinds in which people have an address of their own. */
export const contactKinds = channels.flatMap(({ name, contact }) => (contact === null ? [] : [{ name, contact }]))

/** What people call the kind of this channel. */
export const titleOf = (channel: string): string =>
  channels.find(({ name }) => name === channel.replace(/:.*$/, ''))?.words.title ?? channel
