// One room of Slack as a channel: the threads of its sessions with their cards, summaries, and what the whole room has to know.

import type { FeedItem } from '../../domain/session/feed.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { DeliveryFailed, type OperatorChannel } from '../operator.ts'
import type { CardLooks } from './card-looks.ts'
import type { SlackMessage, ThreadFile } from './cards/blocks.ts'
import { escalationMessage, logLine, notice, summaryMessage } from './cards/messages.ts'
import type { SlackDeps } from './create-slack.ts'
import type { SlackCalls } from './create-slack-api.ts'
import { createEarlierPosts, type EarlierPosts } from './earlier-posts.ts'
import { createEscalationCall } from './escalation-calls.ts'
import { createLowDigest } from './low-digest.ts'
import { createRoomCards, type PostReply, type RoomCards } from './room-cards.ts'
import { createSessionThreads, type PostHow, remember, type SessionThreads } from './session-threads.ts'
import { kindOf, SlackFailure } from './slack-failure.ts'
import { type AttachFiles, createAttachFiles } from './thread-files.ts'

type OfSlack = 'operators' | 'escalation' | 'personOf' | 'lookup' | 'outbox' | 'log' | 'alone' | 'clock' | 'logger'

export interface RoomDeps extends Pick<SlackDeps, OfSlack> {
  room: string
  api: SlackCalls
  looks: CardLooks
  trouble: () => string | null
}

/** What the parts of a room share. */
export interface RoomParts extends RoomDeps {
  /** Under which the room itself has its outbox and its notes, and records keep where their card is. */
  channel: string
  threads: SessionThreads
  reply: PostReply
}

/** By then it is written that a summary was delivered. */
const SUMMARY_MS = 10_000
const MOST_TOLD = 5_000

/** Under this name the room has its outbox and its notes, and records keep where their card is. */
export const channelName = (room: string): string => `slack:${room}`

export function createSlackRoom(deps: RoomDeps) {
  const { room, lookup, looks } = deps
  const channel = channelName(room)
  const threads = createSessionThreads({ ...deps, channel })
  const earlier = createEarlierPosts({ ...deps, channel, threads })
  const attach = createAttachFiles({ ...deps, channel, threads })
  const reply = createReply(deps, threads)
  const cards = createRoomCards({ ...deps, channel, threads, earlier, reply, attach })
  const deliver = createDeliver({ ...deps, channel, threads, earlier, reply, cards, told: new Map() })

  const ofCards: OperatorChannel = {
    name: channel,
    surface: 'remote',
    room,
    concerns: ({ kind, sessionId }) =>
      kind === 'wait' || (kind === 'session' && (looks.root.detail === 'verbose' || threads.mayHave(sessionId))),
    takeOver() {
      threads.readAgain()
      earlier.takeOver()
      cards.forgetShown()
    },
    deliver,
    trouble: deps.trouble,
    close: async () => {},
  }

  return {
    channel: ofCards,
    /** Each calls further people when a question has waited for long. */
    calls: deps.escalation.flatMap((step) => createEscalationCall({ ...deps, channel, threads, reply }, step) ?? []),
    digest: createLowDigest({ ...deps, channel, threads, reply }),
    lines: createRoomLines({ ...deps, channel, threads, reply, attach }),
    refresh: cards.refresh,
    bringUpToDate: cards.bringUpToDate,
    sessionOfThread: threads.sessionOf,

    /** Uploads files to the thread of a session, each once. */
    async attach(sessionId: string, files: readonly ThreadFile[]): Promise<void> {
      const session = await lookup.session(sessionId)
      if (session !== null) await attach(session, files)
    },

    /** Posts something to the thread of a session. It gets lost if Slack does not take it now. */
    say: (session: SessionRecord, message: SlackMessage, { key, ...how }: PostHow & { key: string }): Promise<string> =>
      reply(session, message, key, how),
  }
}

export type SlackRoom = ReturnType<typeof createSlackRoom>

/** Begins another thread if somebody has deleted the first message. */
const createReply =
  ({ room, api }: Pick<RoomDeps, 'room' | 'api'>, threads: SessionThreads): PostReply =>
  async (session, message, key, how) => {
    const thread = await threads.begin(session, how)
    how.signal?.throwIfAborted()
    try {
      return await api.post(room, message, { ...how, thread, key })
    } catch (error) {
      if (!(error instanceof SlackFailure) || kindOf(error) !== 'gone') throw error
      await threads.forget(session.id, thread)
      return await api.post(room, message, { ...how, thread: await threads.begin(session, how), key })
    }
  }

interface DeliverDeps extends RoomParts {
  earlier: EarlierPosts
  cards: Pick<RoomCards, 'show'>
  /** Keys of what this process has said. Two items of the feed may be about the same news. */
  told: Map<string, true>
}

function createDeliver(deps: DeliverDeps): OperatorChannel['deliver'] {
  const { earlier, cards } = deps

  async function show(delivery: Delivery, signal: AbortSignal): Promise<string | null> {
    const { item } = delivery
    if (item?.kind === 'wait') {
      const ts = await cards.show(item, delivery, signal)
      if (ts !== null) await tellNews(deps, item, delivery, signal)
      if (ts !== null && item.status === 'escalated') await escalate(deps, item, delivery, signal)
      return ts
    }
    if (item === null) await showSummary(deps, delivery, signal)
    else if (item.kind === 'session') await showSession(deps, item, delivery, signal)
    return null
  }

  return (delivery, signal) => earlier.attempt(delivery, signal, () => show(delivery, signal))
}

/** Says in the thread what happened without a person, once. */
async function tellNews(deps: DeliverDeps, item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { lookup, looks, earlier, reply, told } = deps
  const wait = await lookup.find(item)
  const session = wait === null ? null : await lookup.session(wait.sessionId)
  const news = wait === null || session === null ? null : await looks.news(wait, session)
  if (session === null || news === null || told.has(news.key)) return
  if ((await earlier.inThread(delivery, session, news.key)) === null) {
    await reply(session, news.message, news.key, { urgency: 'delivery', signal })
  }
  remember(told, news.key, true, MOST_TOLD)
}

/** A change of a card notifies nobody, so an agent that stays silent is told in a message of its own, to the whole room. */
async function escalate(deps: DeliverDeps, item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { room, api, lookup, looks, threads, earlier, clock } = deps
  const wait = await lookup.find(item)
  if (wait?.status !== 'escalated') return
  const session = await lookup.session(wait.sessionId)
  const key = `escalated/${wait.id}`
  if (session === null || (await earlier.atTop(delivery, key)) !== null) return
  const idleSeconds = Math.max(clock.now() - wait.lastActivityAt, 0) / 1_000
  const message = escalationMessage(await looks.view(wait, session), idleSeconds, lookup.link(wait.id))
  // Not in the thread: Slack notifies nobody of a mention of the whole room there.
  const ts = await api.post(room, message, { thread: null, key, urgency: 'delivery', signal })
  await threads.add(ts, session.id)
}

async function showSession(deps: DeliverDeps, item: FeedItem, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { lookup, looks, threads, earlier, reply } = deps
  const session = await lookup.session(item.sessionId)
  if (session === null) return
  const isTold = looks.root.detail === 'verbose' && session.supervision !== undefined
  if ((await threads.find(session)) === null) {
    if (isTold) await threads.begin(session, { urgency: 'delivery', signal })
    return
  }
  await threads.update(session)
  const key = `status/${delivery.n}`
  if (!isTold || (await earlier.inThread(delivery, session, key)) !== null) return
  await reply(session, notice(`The session is ${item.status}.`), key, { urgency: 'delivery', signal })
}

/** The number of a summary stays the same from one to the next, so a note says which one is under way. */
async function showSummary(deps: DeliverDeps, { n, count }: Delivery, signal: AbortSignal): Promise<void> {
  const { room, channel, api, lookup, outbox, log, clock } = deps
  const key = `summary/${n}/${count}`
  const before = await outbox.note(channel, 'summary')
  if (before?.value === key && (await api.keys(room, null, before.at - 60_000)).has(key)) return
  const note = { type: 'note_for_channel', channel, key: 'summary' } as const
  await log.commit({ ...note, value: key, session: null, at: clock.now() })
  const message = summaryMessage(count, lookup.link(null))
  await api.post(room, message, { thread: null, key, urgency: 'delivery', signal })
  clock.after(SUMMARY_MS, () => void log.commit({ ...note, value: null }).catch(() => {}))
}

// What a room is told without being asked: lines of agents, and what the server says about them. They come through an outbox of their own.

function createRoomLines(deps: RoomParts & { attach: AttachFiles }): OperatorChannel {
  const { room, api, lookup, looks, threads, reply, attach } = deps
  const name = `${deps.channel}:lines`
  const earlier = createEarlierPosts({ ...deps, channel: name, threads })

  return {
    name,
    surface: 'remote',
    room,
    concerns: () => false,
    takeOver: earlier.takeOver,
    // A line that Slack will never take is in the log of the server, and nobody has to answer it.
    deliver: async () => null,

    say: (delivery, signal) =>
      earlier.attempt(delivery, signal, async () => {
        const { item: line } = delivery
        if (line === null) return
        const key = `line/${line.id}`
        if (line.sessionId === null) {
          if ((await earlier.atTop(delivery, key)) === null)
            await api.post(room, notice(line.text), { urgency: 'line', signal, thread: null, key })
          return
        }
        const session = await lookup.session(line.sessionId)
        if (session === null) return
        const message =
          line.by === 'agent' ? logLine(looks.session(session), line.level, line.text, line.id) : notice(line.text)
        const { thread } = line
        const isOurs = thread !== null && (await threads.sessionOf(thread)) === session.id
        if ((await earlier.inThread(delivery, session, key, isOurs ? thread : null)) === null) {
          const how = { urgency: 'line', signal } as const
          if (isOurs) await api.post(room, message, { ...how, thread, key })
          else await reply(session, message, key, how)
        }
        await attach(session, message.files ?? []).catch((error: unknown) => {
          // The line is there. The next try finds it, and uploads the rest.
          const { retryAfterMs } = error instanceof SlackFailure ? error : { retryAfterMs: 0 }
          throw new DeliveryFailed('The rest of a line did not get to Slack.', { retryAfterMs, cause: error })
        })
      }),
    close: async () => {},
  }
}
