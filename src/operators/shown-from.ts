// Where and when a question is shown: the session's room, its mode, and who is asked when.

import type { PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { SessionRecord } from '../domain/session/session.ts'
import { type Surface, surfacesOf } from '../supervision/sessions/set-mode.ts'
import type { OperatorChannel } from './operator.ts'

type Place = Pick<OperatorChannel, 'name' | 'surface' | 'room' | 'asksFrom' | 'isSetUp'> &
  Partial<Pick<OperatorChannel, 'concerns'>>

/** From when on (epoch ms) a channel shows an item of the feed that concerns it; null: never. */
export type ShownFrom = (channel: Place, item: FeedItem) => Promise<number | null>

/** The chat room that a session reports to; null: none. Own agents report to the room of the settings. */
export const roomOf = ({ supervision }: Pick<SessionRecord, 'supervision'>, ownRoom: string | null): string | null =>
  supervision?.channelId ?? ownRoom

/** Whether somebody who is asked at once sees a question of this session in this channel. */
export function reaches(
  { room, concerns, asksFrom, isSetUp }: Place,
  session: SessionRecord,
  ownRoom: string | null,
  item: FeedItem = questionOf(session),
): boolean {
  if (isSetUp?.() === false || concerns?.(item) === false) return false
  if (room !== undefined && room !== roomOf(session, ownRoom)) return false
  const from = asksFrom === undefined ? 0 : asksFrom(item, session)
  return from !== null && from <= item.at
}

/** Stands for everything that the session may ask. */
const questionOf = ({ id, owner, agent, createdAt }: SessionRecord): FeedItem => ({
  n: 0,
  at: createdAt,
  kind: 'wait',
  type: 'approval',
  id: '',
  sessionId: id,
  owner,
  agent,
  status: 'pending',
  risk: 'low',
})

/** The surfaces on which something can be shown for this session. `quarterdeck ctl` is always there. */
export const surfacesFor = (
  channels: readonly Place[],
  session: SessionRecord,
  ownRoom: string | null,
  item?: FeedItem,
): ReadonlySet<Surface> =>
  new Set<Surface>([
    'local',
    ...channels.filter((one) => reaches(one, session, ownRoom, item)).map(({ surface }) => surface),
  ])

interface ShownDeps {
  channels: readonly Place[]
  /** The room of sessions that name none. */
  ownRoom: string | null
  find: (item: FeedItem) => Promise<PersonRecord | null>
  /** Null: it is gone. */
  session: (id: string) => Promise<SessionRecord | null>
}

export function createShownFrom({ channels, ownRoom, find, session: sessionOf }: ShownDeps): ShownFrom {
  /** A message that is there already is brought up to date, whatever has changed since. */
  const isThere = async (channel: Place, item: FeedItem): Promise<boolean> =>
    item.kind === 'wait' && (await find(item))?.messageRefs[channel.name] !== undefined

  return async (channel, item) => {
    const session = await sessionOf(item.sessionId)
    if (session === null) return channel.room === undefined ? 0 : null
    if (channel.room !== undefined && channel.room !== roomOf(session, ownRoom)) {
      return (await isThere(channel, item)) ? 0 : null
    }
    const mode = session.supervision?.mode
    if (item.kind === 'wait' && mode !== undefined) {
      const surfaces = surfacesOf(mode, surfacesFor(channels, session, ownRoom, item), item.risk)
      if (!surfaces.includes(channel.surface)) return (await isThere(channel, item)) ? 0 : null
    }
    return channel.asksFrom === undefined ? 0 : channel.asksFrom(item, session)
  }
}
