import { isWaitedFor, type SessionNow, type Step } from '../sessions/take-step.ts'
import { alertOf } from './alerts.ts'
import type { StallSettings } from './stalls.ts'

/** Says what the silence of an agent asks for. */
export interface SilenceJudge {
  /** How long the agent has been silent, without the time while this server was down. */
  silenceOf(now: SessionNow): number
  judge(now: SessionNow): Verdict
  /** The step that writes the silence down, if there is more of it than `every` since the last time. */
  remembered(now: SessionNow, every?: number): Pick<Step<null>, 'supervision'>
}

interface Verdict {
  due: 'raise' | 'nudge' | 'escalate' | null
  /** In how many ms something is due. Null: nobody knows, look again. */
  waitMs: number | null
}

/** A crash forgets at most this much of a silence. */
const REMEMBER_MS = 60_000

const nothing: Verdict = { due: null, waitMs: null }

/** `startedAt` is when this server began to listen. */
export function createSilenceJudge(settings: StallSettings, startedAt: number): SilenceJudge {
  function silenceOf({ session: { supervision }, at }: SessionNow): number {
    const { silence, updatedAt } = supervision
    const since = Math.max(silence?.seenAt ?? updatedAt, startedAt)
    return (silence?.ms ?? 0) + Math.max(at - since, 0)
  }

  return {
    silenceOf,
    judge(now) {
      if (!isListenedTo(now)) return nothing
      const alert = alertOf(now)
      if (alert === undefined) {
        const left = settings.inactivityMs - silenceOf(now)
        return left <= 0 ? { due: 'raise', waitMs: 0 } : { due: null, waitMs: left }
      }
      if (alert.status === 'escalated') return nothing
      const since = Math.max(alert.lastNudgeAt ?? alert.createdAt, startedAt)
      const left = since + settings.escalationMs - now.at
      if (left > 0) return { due: null, waitMs: left }
      const { nudgeCount } = now.session.supervision
      return { due: nudgeCount >= settings.maxRetries ? 'escalate' : 'nudge', waitMs: 0 }
    },
    remembered(now, every = REMEMBER_MS) {
      if (!isListenedTo(now)) return {}
      const ms = silenceOf(now)
      const known = now.session.supervision.silence?.ms ?? 0
      return ms - known > every ? { supervision: { silence: { ms, seenAt: now.at } } } : {}
    },
  }
}

/** False: the agent has a reason to be silent, or nobody minds. */
function isListenedTo({ session, waiting }: SessionNow): boolean {
  const { status, stallPaused, turnEnded = false, stallsOff = false } = session.supervision
  return status === 'active' && !stallPaused && !turnEnded && !stallsOff && !waiting.some(isWaitedFor)
}
