// Slack as a chat: one channel for each room, all over one client and one socket. Loading this file loads Slack's libraries.

import type { SocketModeDispatcher } from '@slack/socket-mode'
import { abortAfter, within } from '../../domain/abort.ts'
import { sleep } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { EscalationSettings } from '../../domain/settings/supervision-settings.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { OutboxReads } from '../../store/ports/outbox.ts'
import type { ChannelParts, ChatParts } from '../channel-parts.ts'
import type { Chat } from '../chat.ts'
import { roomOf } from '../shown-from.ts'
import type { AnswerServices } from './answers/card-answers.ts'
import type { SlackAnswersDeps } from './answers/create-slack-answers.ts'
import { plainText } from './answers/payloads.ts'
import type { ButtonValues } from './button-values.ts'
import { createCardLooks, type SlackLookup } from './card-looks.ts'
import { notice } from './cards/messages.ts'
import type { SlackPerson, SlackSettings } from './channel.ts'
import { createSlackApi } from './create-slack-api.ts'
import { createPostPace } from './post-pace.ts'
import type { SlackAnswers, SlackCards } from './slack-api.ts'
import { clientOptions, createLibraryLogger } from './slack-caller.ts'
import { SlackFailure } from './slack-failure.ts'
import { createSlackHealth } from './slack-health.ts'
import { createSlackRoom, type SlackRoom } from './slack-room.ts'
import { createSlackSocket, type SlackSocket } from './slack-socket.ts'

/** What answers from Slack are made with. */
export type AnswerParts = Pick<SlackAnswersDeps, 'api' | 'cards' | 'teamId'> & Pick<AnswerServices, 'viewOf'>

type OfChannel = 'settings' | 'clock' | 'ids' | 'logger'

export interface SlackDeps extends Pick<ChannelParts<SlackSettings>, OfChannel>, Pick<ChatParts, 'alone'> {
  /** The room of sessions that name none. */
  ownRoom: string | null
  rooms: readonly string[]
  tokens: { app: string; bot: string }
  /** The workspace that the tokens have to be for. Null: whichever they are for. */
  teamId: string | null
  operators: readonly SlackPerson[]
  escalation: readonly EscalationSettings[]
  /** The name under which a person is listed, whichever of their names they come with. */
  personOf: (name: string) => string
  lookup: SlackLookup
  outbox: Pick<OutboxReads, 'note' | 'notes' | 'deliveries'>
  log: Pick<SessionLog, 'commit'>
  buttons: ButtonValues
  /** How requests leave this machine. `dispatcher` is undici's, for a proxy; null: there is none between Slack and us. */
  outgoing: { fetch: typeof fetch; dispatcher: SocketModeDispatcher | null }
  random: () => number
  /** See `slack-socket.ts`. */
  pingMs: number
}

/** A notice that was not posted by then is old news. */
const TELL_MS = 60_000
const CLOSE_MS = 2_000
/** While something is wrong, Slack is asked again: nobody else would notice that it was mended. */
const CHECK_EVERY_MS = 30_000

export interface SlackChat extends Omit<Chat, 'takeAnswers'> {
  answering: AnswerParts
  /** See `Chat.takeAnswers`. Without a signal, until it is closed. */
  serve(answers: SlackAnswers, signal?: AbortSignal): Promise<void>
}

export function openSlack(deps: SlackDeps): SlackChat {
  const { settings, clock, ids, logger, operators } = deps
  const closing = new AbortController()
  const health = createSlackHealth(deps)
  const fetchOver: typeof fetch = (input, init) => {
    const signals = [closing.signal, ...(init?.signal ? [init.signal] : [])]
    return deps.outgoing.fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
  const api = createSlackApi({
    apiUrl: settings.apiUrl,
    botToken: deps.tokens.bot,
    teamId: deps.teamId,
    fetch: fetchOver,
    clock,
    logger,
    isPerson: (user) => operators.some(({ slack }) => slack === user),
    pace: createPostPace(clock),
    health,
    libraryLogger: createLibraryLogger(logger, 'warn'),
  })
  const looks = createCardLooks(deps)
  const rooms = new Map(
    deps.rooms.map((room) => [
      room,
      createSlackRoom({ ...deps, room, api, looks, trouble: () => health.trouble(room) }),
    ]),
  )
  /** Once known, it stays: our token does not change. A press must not be lost because Slack does not say it again just now. Rejects until then. */
  let team = ''
  const teamId = async (): Promise<string> => {
    if (team === '') team = (await api.self()).teamId
    return team
  }
  const answering: AnswerParts = {
    api,
    cards: createCards(deps, rooms),
    teamId,
    async viewOf(wait) {
      const session = await deps.lookup.session(wait.sessionId)
      if (session === null) throw sessionNotFound(wait.sessionId)
      return await looks.view(wait, session)
    },
  }
  const openSocket = (answers: SlackAnswers): SlackSocket =>
    createSlackSocket({
      ...deps.outgoing,
      appToken: deps.tokens.app,
      clientOptions: clientOptions(settings.apiUrl, fetchOver),
      answers,
      onState(state) {
        health.socket(state)
        if (state.type === 'connected') for (const room of rooms.values()) void room.bringUpToDate(closing.signal)
      },
      pingMs: deps.pingMs,
      clock,
      logger,
      random: deps.random,
      libraryLogger: createLibraryLogger(logger, 'debug'),
    })
  const stopping = new AbortController()
  let serving: Promise<void> = Promise.resolve()

  /** Each time has a socket of its own, because one that was closed stays closed. */
  async function serve(answers: SlackAnswers, signal: AbortSignal): Promise<void> {
    const socket = openSocket(answers)
    socket.start()
    void keepChecking(signal)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await socket.close()
    health.socket(null)
  }

  async function keepChecking(signal: AbortSignal): Promise<void> {
    let isKnown = false
    while (!signal.aborted) {
      if (!isKnown || health.isIll) {
        await api.check(deps.rooms)
        isKnown = await api.self().then(
          () => true,
          () => false,
        )
      }
      await sleep(clock, CHECK_EVERY_MS, signal)
    }
  }

  function roomFor(session: SessionRecord): SlackRoom | null {
    const room = roomOf(session, deps.ownRoom)
    return room === null ? null : (rooms.get(room) ?? null)
  }

  const telling = new Set<Promise<void>>()

  return {
    channels: [...rooms.values()].flatMap(({ channel, calls, digest, lines }) =>
      [channel, ...calls, digest, lines].map((one) => () => one),
    ),

    linesOf: (room) => rooms.get(room)?.lines.name ?? null,
    sessionOfThread: async (room, thread) => (await rooms.get(room)?.sessionOfThread(thread)) ?? null,

    tell(session, text) {
      const late = abortAfter(clock, TELL_MS)
      const signal = AbortSignal.any([late.signal, closing.signal])
      const how = { key: `notice/${ids.uuid()}`, urgency: 'line', signal } as const
      const posting = roomFor(session)?.say(session, notice(text), how) ?? Promise.resolve()
      const told = posting
        .catch((error: unknown) => logger.warn('a notice did not get to Slack', { session_id: session.id, error }))
        .then(() => late[Symbol.dispose]())
      telling.add(told)
      void told.then(() => telling.delete(told))
    },

    async recent(room, most) {
      if (!rooms.has(room)) return null
      const nameOf = (user: string) => operators.find(({ slack }) => slack === user)?.name ?? null
      try {
        const { messages, hasMore } = await api.recent(room, most)
        return {
          messages: messages.map(({ ts, user, text, threadTs }) => ({
            ts,
            user: nameOf(user) ?? user,
            text: plainText(text, nameOf),
            ...(threadTs === null ? {} : { thread_ts: threadTs }),
          })),
          has_more: hasMore,
        }
      } catch (error) {
        if (!(error instanceof SlackFailure)) throw error
        const why = health.trouble(room) ?? error.message
        throw new ServerError('operator_unreachable', `The messages cannot be read just now. ${why}`)
      }
    },

    answering,

    serve(answers, signal = stopping.signal) {
      serving = serve(answers, AbortSignal.any([signal, stopping.signal]))
      return serving
    },

    async close() {
      // Answers and notices that are under way may still reach people.
      stopping.abort()
      await within(clock, CLOSE_MS, Promise.all([serving, ...telling]))
      closing.abort()
    },
  }
}

/** The cards of all rooms, as answers see them. */
function createCards({ lookup, ownRoom }: SlackDeps, rooms: ReadonlyMap<string, SlackRoom>): SlackCards {
  return {
    async refresh(recordId, state) {
      // Only the room that has a card of it changes anything.
      await Promise.all([...rooms.values()].map((room) => room.refresh(recordId, state)))
    },
    sessionOfThread: async (room, thread) => (await rooms.get(room)?.sessionOfThread(thread)) ?? null,
    async attach(recordId, files) {
      const wait = await lookup.find({ kind: 'wait', id: recordId })
      const session = wait === null ? null : await lookup.session(wait.sessionId)
      if (session !== null) await rooms.get(roomOf(session, ownRoom) ?? '')?.attach(session.id, files)
    },
  }
}
