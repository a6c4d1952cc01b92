import { visibleText } from '../domain/visible-text.ts'
import type { Reach } from '../supervision/reach.ts'
import { createExplainMode, surfacesOf } from '../supervision/sessions/mode-surfaces.ts'
import type { SupervisedSession } from '../supervision/sessions/take-step.ts'
import type { Chat } from './chat.ts'
import type { OperatorChannel } from './operator.ts'
import type { Outbox } from './outbox.ts'
import { reaches, roomOf, surfacesFor } from './shown-from.ts'

interface ReachDeps {
  channels: readonly OperatorChannel[]
  outbox: Pick<Outbox, 'announce'>
  /** Null: none is configured. */
  chat: Chat | null
  /** The room of sessions that name none. */
  ownRoom: string | null
}

/** Reaches people through these channels. */
export function openReach({ channels, outbox, chat, ownRoom }: ReachDeps): Reach {
  const surfaces = (session: SupervisedSession) => surfacesFor(channels, session, ownRoom)
  return {
    postLog: async (session, line) => (chat === null ? null : chat.postLog(session, line)),
    tell: (session, text) => chat?.tell(session, text),
    recent: async (room, limit) => (chat === null ? null : chat.recent(room, limit)),
    roomOf: (session) => (chat === null ? null : roomOf(session, ownRoom)),
    explainMode: (mode, session) => createExplainMode(surfaces(session))(mode),
    /** Said where the questions are not shown any more, so that nobody waits for them there in vain. */
    modeChanged({ session, from, to, by }) {
      const now = surfacesOf(to, surfaces(session))
      const left = surfacesOf(from, surfaces(session)).filter((surface) => !now.includes(surface))
      const name = visibleText(session.supervision.title ?? session.supervision.host)
      const text = `${name} (${session.id}): ${visibleText(by)} changed the mode from ${from} to ${to}.`
      outbox.announce(left, text)
      if (left.includes('remote')) chat?.tell(session, text)
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
