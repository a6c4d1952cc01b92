// The mode of a session, which says where its questions are shown. An agent may choose it, so no mode may silence its operator. What was
// remembered for this agent, folder and owner ends with it: it was decided with other people in sight.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { OperationalMode } from '../../domain/supervision/supervision.ts'
import { programOf } from '../../hosts/hosts.ts'
import type { Store } from '../../store/store.ts'
import { isFor } from '../remember/remembered.ts'
import { refuseEnded, refuseForeignCommand, viaOf } from './may-command.ts'
import { activityEvent } from './session-events.ts'
import type { SupervisedSessions } from './supervised-sessions.ts'
import { about, type SessionParts, type SupervisedSession } from './take-step.ts'

export interface SetModeDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'ids'> {
  store: Pick<Store, 'grants'>
  /** `modes.agent_may_set`. */
  agentMaySetMode: boolean
  /** Told after each change of a mode. */
  onMode: ModeChanged
}

export type ModeChanged = (change: {
  session: SupervisedSession
  from: OperationalMode
  to: OperationalMode
  by: string
}) => void

export function createSetMode(deps: SetModeDeps): SupervisedSessions['setMode'] {
  const { store, takeStep, operators, ids, agentMaySetMode, onMode } = deps
  return async (by, sessionId, mode) => {
    if (by === null && !agentMaySetMode) {
      throw new ServerError(
        'forbidden',
        'The operator does not allow agents to change the mode. Go on in the mode as it is.',
      )
    }
    const { result, session: changed } = await takeStep(sessionId, async ({ session, at }) => {
      if (by !== null) {
        refuseForeignCommand(operators, by, session.owner)
        refuseEnded(session)
      }
      const { mode: previous } = session.supervision
      if (previous === mode) return { result: { previous } }
      const who = by?.user ?? session.supervision.host
      const held = await store.grants.list({ now: at, agent: programOf(session.supervision.host) })
      // An agent that may choose its mode does not get rid of a no by it.
      const ended = held.filter((grant) => isFor(grant, session) && (by !== null || grant.effect !== 'refuse'))
      const forgotten = ended.length === 0 ? {} : { forgotten: ended.length }
      return {
        result: { previous },
        supervision: { mode },
        forget: ended.map(({ id }) => id),
        events: [activityEvent(ids.uuid(), 'mode', { from: previous, to: mode, by: who }, at)],
        audit: [
          about(session, at, who, {
            what: 'mode',
            from: previous,
            to: mode,
            ...forgotten,
            ...(by === null ? {} : viaOf(by)),
          }),
        ],
      }
    })
    if (result.previous !== mode) {
      onMode({ session: changed, from: result.previous, to: mode, by: by?.user ?? changed.supervision.host })
    }
    return result
  }
}

/** `local`: at the terminal of this machine. `remote`: in a chat, on a phone, at a webhook. */
export type Surface = 'local' | 'remote'

const BOTH: readonly Surface[] = ['local', 'remote']

/** What is critical is shown everywhere. A mode without a configured surface acts as `hybrid`. */
export function surfacesOf(
  mode: OperationalMode,
  configured: ReadonlySet<Surface>,
  risk: Risk | null = null,
): readonly Surface[] {
  if (mode === 'hybrid' || risk === 'critical' || !configured.has(mode)) return BOTH
  return [mode]
}

/** What a mode means on this server, if it is not what its name says. */
export const explainMode = (mode: OperationalMode, configured: ReadonlySet<Surface>): string | null =>
  mode === 'hybrid' || configured.has(mode)
    ? null
    : `No ${mode} channel is configured here, so ${mode} acts as hybrid: your questions are shown everywhere.`
