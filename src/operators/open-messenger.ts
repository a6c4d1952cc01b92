import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { ChannelLine } from '../domain/supervision/delivery.ts'
import { visibleText } from '../domain/text/visible-text.ts'
import type { Messenger } from '../supervision/messenger.ts'
import { explainMode, surfacesOf } from '../supervision/sessions/set-mode.ts'
import type { SupervisedSession } from '../supervision/sessions/take-step.ts'
import type { Chat } from './chat.ts'
import type { OperatorChannel } from './operator.ts'
import type { Outbox } from './outbox.ts'
import { reaches, roomOf, surfacesFor } from './shown-from.ts'

interface MessengerDeps {
  channels: readonly OperatorChannel[]
  outbox: Pick<Outbox, 'announce' | 'queue'>
  /** Null: none is configured. */
  chat: Omit<Chat, 'takeAnswers' | 'channels' | 'close'> | null
  /** The room of sessions that name none. */
  ownRoom: string | null
  clock: Pick<Clock, 'now'>
  ids: Ids
  logger: Logger
}

const NO_ROOM =
  'Your session reports to no Slack channel, so nothing was posted. Go on: your operator can read this in the log of the session.'

const unknownThread = (thread: string): ServerError =>
  new ServerError(
    'invalid_request',
    `thread_ts ${JSON.stringify(thread)} is not a thread of your session. Leave it out: the line then goes to the thread of your session.`,
  )

/** Reaches people through these channels. */
export function openMessenger({ channels, outbox, chat, ownRoom, clock, ids, logger }: MessengerDeps): Messenger {
  /** The channel for lines of this session; null: it reports to no chat room. */
  function linesOf(session: SupervisedSession): string | null {
    const room = roomOf(session, ownRoom)
    return room === null ? null : (chat?.linesOf(room) ?? null)
  }

  async function hasThread(session: SupervisedSession, thread: string): Promise<boolean> {
    const room = roomOf(session, ownRoom)
    return room !== null && (await chat?.sessionOfThread(room, thread)) === session.id
  }

  const lineOf = (
    { id: sessionId }: SupervisedSession,
    said: Pick<ChannelLine, 'by' | 'level' | 'text' | 'thread'>,
  ): Omit<ChannelLine, 'n'> => ({ kind: 'line', id: ids.uuid(), at: clock.now(), sessionId, ...said })

  function tell(session: SupervisedSession, text: string): void {
    const channel = linesOf(session)
    if (channel === null) return
    outbox
      .queue(channel, lineOf(session, { by: 'server', level: 'info', text, thread: null }))
      .catch((error: unknown) => logger.warn('a chat room was not told', { session_id: session.id, text, error }))
  }

  const surfaces = (session: SupervisedSession) => surfacesFor(channels, session, ownRoom)
  return {
    async postLog(session, { level, message: text, thread }) {
      const channel = linesOf(session)
      if (channel === null) return { posted: false, reason: NO_ROOM }
      if (thread !== null && !(await hasThread(session, thread))) throw unknownThread(thread)
      try {
        await outbox.queue(channel, lineOf(session, { by: 'agent', level, text, thread }))
        return { posted: true }
      } catch (error) {
        if (!(error instanceof ServerError) || error.code !== 'limit') throw error
        return { posted: false, reason: error.message }
      }
    },
    tell,
    tellNow: (session, text) => chat?.tell(session, text),
    recent: async (room, limit) => (chat === null ? null : chat.recent(room, limit)),
    roomOf: (session) => (chat === null ? null : roomOf(session, ownRoom)),
    explainMode: (mode, session) => explainMode(mode, surfaces(session)),
    /** Said where the questions are not shown any more, so that nobody waits for them there in vain. */
    modeChanged({ session, from, to, by }) {
      const now = surfacesOf(to, surfaces(session))
      const left = surfacesOf(from, surfaces(session)).filter((surface) => !now.includes(surface))
      const name = visibleText(session.supervision.title ?? session.supervision.host)
      const text = `${name} (${session.id}): ${visibleText(by)} changed the mode from ${from} to ${to}.`
      outbox.announce(left, text)
      if (left.includes('remote')) tell(session, text)
    },
    isTroubled: () => channels.some(({ trouble }) => (trouble?.() ?? null) !== null),
    trouble(session) {
      // At the terminal of this machine somebody can always be asked.
      if (surfacesOf(session.supervision.mode, surfaces(session)).includes('local')) return null
      const here = channels.filter((one) => one.surface === 'remote' && reaches(one, session, ownRoom))
      const troubles = here.map((channel) => channel.trouble?.() ?? null)
      return troubles.includes(null) ? null : troubles.join(' ')
    },
  }
}
