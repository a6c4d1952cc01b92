// One room of Slack: the threads of its sessions, and in them a card for each record that waits for a person.

import { hash } from 'node:crypto'
import { type Clock, sleep } from '../../domain/clock.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { FeedItem, PersonWait } from '../../domain/feed.ts'
import type { Logger } from '../../domain/logger.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { isWaiting } from '../../domain/wait.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { OutboxReads } from '../../store/ports/outbox.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { DeliveryFailed, type OperatorChannel } from '../operator.ts'
import type { SlackMessage, ThreadFile } from './cards/blocks.ts'
import type { CardState } from './cards/card.ts'
import { escalationMessage, notice, summaryMessage } from './cards/messages.ts'
import type { SlackCalls } from './create-slack-api.ts'
import { createSessionThreads, type PostHow, remember } from './session-threads.ts'
import type { CardLooks, SlackDesk } from './slack-desk.ts'
import { kindOf, SlackFailure } from './slack-failure.ts'

export interface SlackRoom {
  readonly channel: OperatorChannel
  /** Shows the record as it is now, if it has a card here. `state` stays until it is called again. Never throws. */
  refresh(recordId: string, state?: CardState): Promise<void>
  /** Uploads files to the thread of a session, each once. */
  attach(sessionId: string, files: readonly ThreadFile[]): Promise<void>
  /** Posts something to the thread of a session. `thread` is used only if it is one of the session's. */
  say(
    session: SessionRecord,
    message: SlackMessage,
    how: PostHow & { key: string; thread?: string | null },
  ): Promise<string>
  sessionOfThread(thread: string): Promise<string | null>
  /** Looks at every card that waits for a person: a crash may have left an old state there. Never throws. */
  bringUpToDate(signal: AbortSignal): Promise<void>
}

interface RoomDeps {
  room: string
  api: SlackCalls
  desk: SlackDesk
  looks: CardLooks
  outbox: Pick<OutboxReads, 'note' | 'notes' | 'deliveries'>
  log: Pick<SessionLog, 'commit'>
  trouble: () => string | null
  clock: Clock
  logger: Logger
}

const MOST_SHOWN = 5_000
/** Cards that are looked at after a start, and how many of them at once. Slack allows 50 changes a minute. */
const MOST_REFRESHED = 256
const REFRESHED_AT_ONCE = 20
const REFRESH_EVERY_MS = 1_300
const AGAIN_MS = 5_000
const MOST_TRIES = 6
/** By then it is written that a summary was delivered. */
const SUMMARY_MS = 10_000

export const channelName = (room: string): string => `slack:${room}`
const cardKey = (id: string): string => `card/${id}`

export function createSlackRoom(deps: RoomDeps): SlackRoom {
  const { room, api, desk, looks, outbox, log, clock, logger } = deps
  const name = channelName(room)
  const threads = createSessionThreads({ ...deps, channel: name })
  const turns = createTurns()
  /** Cards that this process has posted or changed: where they are, and what they show. */
  const shown = new Map<string, { ts: string; digest: string }>()
  /** What goes on with records just now. */
  const states = new Map<string, CardState>()
  /** Deliveries that an earlier process may have posted. */
  const early = outbox.deliveries(name).then(
    (deliveries) => new Set(deliveries.map(({ n }) => n)),
    () => null,
  )
  /** Deliveries whose last try ended without a clear answer. */
  const unclear = new Set<number>()
  /** What was in the threads when this process first looked. */
  const seen = new Map<string, ReadonlyMap<string, string>>()
  let isLooking = false

  const note = (key: string, value: string, session: string | null): Promise<unknown> =>
    log.commit({ type: 'note_for_channel', channel: name, key, value, session, at: clock.now() })

  /** Where an earlier try has posted this, if it has; null: nowhere. Only tries that may have worked are looked for. */
  async function earlierPost({ n }: Delivery, session: SessionRecord, key: string): Promise<string | null> {
    const old = await early
    const isUnclear = unclear.has(n)
    if (!isUnclear && old !== null && !old.has(n)) return null
    const thread = await threads.find(session)
    if (thread === null) return null
    const before = isUnclear ? undefined : seen.get(thread)
    const keys = before ?? (await api.keys(room, thread))
    remember(seen, thread, keys, 100)
    return keys.get(key) ?? null
  }

  /** Posts to a session's thread; begins another one if somebody has deleted the first message. */
  async function reply(session: SessionRecord, message: SlackMessage, key: string, how: PostHow): Promise<string> {
    const thread = await threads.begin(session, how)
    how.signal?.throwIfAborted()
    try {
      return await api.post(room, message, { ...how, thread, key })
    } catch (error) {
      if (!(error instanceof SlackFailure) || kindOf(error) !== 'gone') throw error
      await threads.forget(session.id)
      return await api.post(room, message, { ...how, thread: await threads.begin(session, how), key })
    }
  }

  /** What is too long for a message goes to the thread as a file. A file that Slack refuses for good is left out. */
  async function attach(session: SessionRecord, files: readonly ThreadFile[]): Promise<void> {
    if (files.length === 0) return
    const thread = await threads.begin(session, { urgency: 'delivery' })
    for (const file of files) {
      await turns(`file ${session.id} ${file.name}`, () => attachOne(session.id, thread, file)).catch((error) => {
        const kind = error instanceof SlackFailure ? kindOf(error) : null
        if (kind === null || !['content', 'scope', 'gone', 'other'].includes(kind)) throw error
        logger.error('a file could not be put into a thread of Slack', { room, error })
      })
    }
  }

  async function attachOne(sessionId: string, thread: string, file: ThreadFile): Promise<void> {
    const key = `file/${sessionId}/${file.name}`
    const before = await outbox.note(name, key)
    if (before?.value === 'there') return
    // A try before this one may have worked.
    const isThere = before !== null && (await api.keys(room, thread)).has(`file/${file.name}`)
    if (before === null) await note(key, 'begun', sessionId)
    if (!isThere) await api.upload(room, thread, file)
    await note(key, 'there', sessionId)
  }

  async function writeCard(wait: PersonWait, session: SessionRecord, ref: string): Promise<SlackMessage> {
    const message = await looks.card(room, wait, session, stateOf(wait))
    const digest = digestOf(message)
    if (shown.get(wait.id)?.digest !== digest) {
      await api.update(room, ref, message)
      remember(shown, wait.id, { ts: ref, digest }, MOST_SHOWN)
    }
    return message
  }

  function stateOf(wait: PersonWait): CardState {
    if (!isWaiting(wait)) states.delete(wait.id)
    return states.get(wait.id) ?? { type: 'open' }
  }

  /** Posts the card of a record that waits, or brings the card up to date that it has. Gives its `ts`; null: it has none. */
  async function showCard(item: Pick<FeedItem, 'kind' | 'id'>, delivery: Delivery, signal: AbortSignal) {
    return await turns(cardKey(item.id), async () => {
      const wait = await desk.find(item)
      const session = wait === null ? null : await desk.session(wait.sessionId)
      if (wait === null || session === null) return null
      const ref = refOf(wait) ?? (await earlierPost(delivery, session, cardKey(wait.id)))
      if (ref === null && !isWaiting(wait)) return null
      let message: SlackMessage
      let ts = ref
      if (ts === null) {
        message = await looks.card(room, wait, session, stateOf(wait))
        ts = await reply(session, message, cardKey(wait.id), { urgency: 'delivery', signal })
        remember(shown, wait.id, { ts, digest: digestOf(message) }, MOST_SHOWN)
        // It also tells how far the agent is, which no item of the feed says.
        await threads.update(session).catch((error) => logger.debug('a thread is not up to date', { room, error }))
      } else message = await writeCard(wait, session, ts)
      if (isWaiting(wait)) await attach(session, message.files)
      return ts
    })
  }

  const refOf = (wait: PersonWait): string | null => wait.messageRefs[name] ?? shown.get(wait.id)?.ts ?? null

  /** A change of a card notifies nobody, so an agent that stays silent is told in a message of its own, to the whole room. */
  async function escalate(item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<void> {
    const wait = await desk.find(item)
    if (wait?.wait !== 'alert' || wait.status !== 'escalated') return
    const session = await desk.session(wait.sessionId)
    if (session === null) return
    const key = `escalated/${wait.id}`
    const isSuspect = unclear.has(delivery.n) || (await early)?.has(delivery.n) !== false
    const since = wait.createdAt - 60_000
    if (isSuspect && (await api.keys(room, null, since)).has(key)) return
    const idleSeconds = Math.max(clock.now() - wait.lastActivityAt, 0) / 1_000
    const message = escalationMessage(await looks.subject(wait, session), idleSeconds, desk.link(wait.id))
    // Not in the thread: Slack notifies nobody of a mention of the whole room there.
    const ts = await api.post(room, message, { thread: null, key, urgency: 'delivery', signal })
    await threads.add(ts, session.id)
  }

  async function showSession(item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<void> {
    const session = await desk.session(item.sessionId)
    if (session === null) return
    const { detail } = looks.root
    const isTold = detail === 'verbose' && session.supervision !== undefined
    if ((await threads.find(session)) === null) {
      if (isTold) await threads.begin(session, { urgency: 'delivery', signal })
      return
    }
    await threads.update(session)
    const key = `status/${delivery.n}`
    if (!isTold || (await earlierPost(delivery, session, key)) !== null) return
    const message = notice(`The session is ${item.status}.`)
    await reply(session, message, key, { urgency: 'delivery', signal })
  }

  /** The number of a summary stays the same from one to the next, so a note says which one is under way. */
  async function showSummary({ n, count }: Delivery, signal: AbortSignal): Promise<void> {
    const key = `summary/${n}/${count}`
    const before = await outbox.note(name, 'summary')
    const since = before === null ? 0 : before.at - 60_000
    if (before?.value === key && (await api.keys(room, null, since)).has(key)) return
    await note('summary', key, null)
    const message = summaryMessage(count, desk.link(null))
    await api.post(room, message, { thread: null, key, urgency: 'delivery', signal })
    clock.after(SUMMARY_MS, () => {
      log.commit({ type: 'note_for_channel', channel: name, key: 'summary', value: null }).catch(() => {})
    })
  }

  async function show(delivery: Delivery, signal: AbortSignal): Promise<string | null> {
    const { item } = delivery
    if (item === null) {
      await showSummary(delivery, signal)
      return null
    }
    if (item.kind === 'session') {
      await showSession(item, delivery, signal)
      return null
    }
    if (item.kind !== 'wait') return null
    const ts = await showCard(item, delivery, signal)
    if (ts !== null && item.status === 'escalated') await escalate(item, delivery, signal)
    return ts
  }

  async function deliver(delivery: Delivery, signal: AbortSignal): Promise<string | null> {
    const lane = `session ${delivery.item?.sessionId ?? ''}`
    try {
      // A try that was given up may still be under way. It ends before the next one begins.
      const showing = turns(lane, async () => {
        signal.throwIfAborted()
        return await show(delivery, signal)
      })
      const ref = await unlessAborted(showing, signal)
      unclear.delete(delivery.n)
      return ref
    } catch (error) {
      if (!(error instanceof SlackFailure) || error.isUnclear) unclear.add(delivery.n)
      throw error
    }
  }

  async function refreshOnce(recordId: string): Promise<void> {
    await turns(cardKey(recordId), async () => {
      const wait = await desk.find({ kind: 'wait', id: recordId })
      const ref = wait === null ? null : refOf(wait)
      const session = wait === null || ref === null ? null : await desk.session(wait.sessionId)
      if (wait !== null && ref !== null && session !== null) await writeCard(wait, session, ref)
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

  return {
    channel: {
      name,
      surface: 'remote',
      room,
      concerns: ({ kind, sessionId }) =>
        kind === 'wait' || (kind === 'session' && (looks.root.detail === 'verbose' || threads.mayHave(sessionId))),
      deliver,
      trouble: deps.trouble,
      close: async () => {},
    },

    async refresh(recordId, state) {
      if (state === undefined) states.delete(recordId)
      else remember(states, recordId, state, MOST_SHOWN)
      await refresh(recordId)
    },

    async attach(sessionId, files) {
      const session = await desk.session(sessionId)
      if (session !== null) await attach(session, files)
    },

    async say(session, message, { key, thread = null, ...how }) {
      const isOurs = thread !== null && (await threads.sessionOf(thread)) === session.id
      const ts = isOurs
        ? await api.post(room, message, { ...how, thread, key })
        : await reply(session, message, key, how)
      // The text was cut, so this is the rest of it.
      attach(session, message.files).catch((error) => logger.warn('a file did not get to Slack', { room, error }))
      return ts
    },

    sessionOfThread: threads.sessionOf,

    async bringUpToDate(signal) {
      if (isLooking) return
      isLooking = true
      try {
        const cards = (await desk.waiting(MOST_REFRESHED)).filter((wait) => wait.messageRefs[name] !== undefined)
        for (const [i, { id }] of cards.entries()) {
          if (signal.aborted) return
          await refresh(id)
          if (i >= REFRESHED_AT_ONCE) await sleep(clock, REFRESH_EVERY_MS, signal)
        }
      } catch (error) {
        logger.warn('the cards in Slack could not be brought up to date', { room, error })
      } finally {
        isLooking = false
      }
    },
  }
}

const digestOf = ({ text, blocks }: SlackMessage): string => hash('sha256', JSON.stringify([text, blocks]))

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DeliveryFailed('Slack took too long.'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
