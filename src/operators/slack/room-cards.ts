// The cards of one room: one for each record that waits for a person, in the thread of its session.

import { hash } from 'node:crypto'
import { sleep } from '../../domain/clock.ts'
import { isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { DeliveryFailed } from '../operator.ts'
import type { SlackMessage } from './cards/blocks.ts'
import type { CardState } from './cards/card.ts'
import type { EarlierPosts } from './earlier-posts.ts'
import { type PostHow, remember } from './session-threads.ts'
import type { RoomParts } from './slack-room.ts'
import type { AttachFiles } from './thread-files.ts'

/** Posts to the thread of a session. */
export type PostReply = (session: SessionRecord, message: SlackMessage, key: string, how: PostHow) => Promise<string>

interface CardDeps extends RoomParts {
  earlier: EarlierPosts
  attach: AttachFiles
}

const MOST_SHOWN = 5_000
/** Cards that are looked at after a start, and how many of them at once. Slack allows 50 changes a minute. */
const MOST_REFRESHED = 256
const REFRESHED_AT_ONCE = 20
const REFRESH_EVERY_MS = 1_300
const AGAIN_MS = 5_000
const MOST_TRIES = 6

export function createRoomCards(deps: CardDeps) {
  const { room, channel, api, lookup, looks, threads, clock, logger } = deps
  const turns = createTurns()
  /** Cards that this process has posted or changed: where they are, and what they show. */
  const shown = new Map<string, { ts: string; digest: string }>()
  /** What goes on with records just now. */
  const states = new Map<string, CardState>()
  let isLooking = false

  const refOf = (wait: PersonRecord): string | null => wait.messageRefs[channel] ?? shown.get(wait.id)?.ts ?? null

  function render(wait: PersonRecord, session: SessionRecord): Promise<SlackMessage> {
    if (!isWaiting(wait)) states.delete(wait.id)
    return looks.card(room, wait, session, states.get(wait.id) ?? { type: 'open' })
  }

  async function update(wait: PersonRecord, session: SessionRecord, ts: string): Promise<SlackMessage> {
    const message = await render(wait, session)
    const digest = digestOf(message)
    if (shown.get(wait.id)?.digest !== digest) {
      await api.update(room, ts, message)
      remember(shown, wait.id, { ts, digest }, MOST_SHOWN)
    }
    return message
  }

  async function post(wait: PersonRecord, session: SessionRecord, signal: AbortSignal) {
    const message = await render(wait, session)
    const ts = await deps.reply(session, message, keyOf(wait.id), { urgency: 'delivery', signal })
    remember(shown, wait.id, { ts, digest: digestOf(message) }, MOST_SHOWN)
    // It also tells how far the agent is, which no item of the feed says.
    await threads.update(session).catch((error) => logger.debug('a thread is not up to date', { room, error }))
    return { ts, message }
  }

  async function refreshOnce(recordId: string): Promise<void> {
    await turns(recordId, async () => {
      const wait = await lookup.find({ kind: 'wait', id: recordId })
      const ref = wait === null ? null : refOf(wait)
      const session = wait === null || ref === null ? null : await lookup.session(wait.sessionId)
      if (wait !== null && ref !== null && session !== null) await update(wait, session, ref)
    })
  }

  async function refresh(recordId: string, tries = 1): Promise<void> {
    try {
      await refreshOnce(recordId)
    } catch (error) {
      const fields = { room, record: recordId, error }
      if (tries >= MOST_TRIES) return logger.warn('a card in Slack is not up to date', fields)
      const retryAfterMs = error instanceof DeliveryFailed ? error.retryAfterMs : 0
      clock.after(Math.max(AGAIN_MS * tries, retryAfterMs), () => void refresh(recordId, tries + 1))
    }
  }

  async function lookAtAll(signal: AbortSignal): Promise<void> {
    const cards = (await lookup.waiting(MOST_REFRESHED)).filter((wait) => wait.messageRefs[channel] !== undefined)
    for (const [i, { id }] of cards.entries()) {
      if (signal.aborted) return
      await refresh(id)
      if (i >= REFRESHED_AT_ONCE) await sleep(clock, REFRESH_EVERY_MS, signal)
    }
  }

  return {
    /** Posts the card of a record that waits, or brings the card up to date that it has. Gives its `ts`; null: it has none. */
    show: (item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<string | null> =>
      turns(item.id, async () => {
        const wait = await lookup.find(item)
        const session = wait === null ? null : await lookup.session(wait.sessionId)
        if (wait === null || session === null) return null
        const ref = refOf(wait) ?? (await deps.earlier.inThread(delivery, session, keyOf(wait.id)))
        if (ref === null && !isWaiting(wait)) return null
        const { ts, message } =
          ref === null ? await post(wait, session, signal) : { ts: ref, message: await update(wait, session, ref) }
        if (isWaiting(wait)) await deps.attach(session, message.files ?? [])
        return ts
      }),

    /** Shows the record as it is now, if it has a card here. `state` stays until it is called again. Never throws. */
    async refresh(recordId: string, state?: CardState): Promise<void> {
      if (state === undefined) states.delete(recordId)
      else remember(states, recordId, state, MOST_SHOWN)
      await refresh(recordId)
    },

    /** Another process may have changed the cards that this one has shown. */
    forgetShown: (): void => shown.clear(),

    /** Looks at every card that waits for a person: a crash may have left an old state there. Never throws. */
    async bringUpToDate(signal: AbortSignal): Promise<void> {
      if (isLooking) return
      isLooking = true
      try {
        await lookAtAll(signal)
      } catch (error) {
        logger.warn('the cards in Slack could not be brought up to date', { room, error })
      } finally {
        isLooking = false
      }
    },
  }
}

export type RoomCards = ReturnType<typeof createRoomCards>

const keyOf = (recordId: string): string => `card/${recordId}`
const digestOf = ({ text, blocks }: SlackMessage): string => hash('sha256', JSON.stringify([text, blocks]))
