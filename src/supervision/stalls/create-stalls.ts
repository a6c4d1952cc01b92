import { ServerError } from '../../domain/errors.ts'
import type { Alert } from '../../domain/records/record.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Jobs } from '../../engine/sessions/jobs.ts'
import type { Store } from '../../store/store.ts'
import { alreadyAnswered, type Records } from '../records/records.ts'
import { checkText } from '../sessions/check-text.ts'
import {
  decidedNow,
  escalatedTo,
  type Operators,
  refuseEnded,
  refuseForeignCommand,
  viaOf,
  wayOf,
} from '../sessions/may-command.ts'
import { activityEvent, shownIn } from '../sessions/session-events.ts'
import {
  about,
  type Changes,
  isWaitedFor,
  type SessionNow,
  type SessionParts,
  type Step,
  type SupervisedSession,
} from '../sessions/take-step.ts'
import { alertOf, findAlert, newAlert } from './alerts.ts'
import { createSendNudge } from './send-nudge.ts'
import { NUDGES_ITSELF, type PushNudge, type StallSettings, type Stalls } from './stalls.ts'

interface StallsDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'clock' | 'ids' | 'logger'> {
  store: Pick<Store, 'supervised'>
  records: Records
  settings: StallSettings
  push: PushNudge
  jobs: Jobs
}

/** A session that begins meanwhile is seen after this time at the latest. */
const LOOK_MS = 10_000
const SHORTEST_MS = 100
/** The process that looks goes on with it until it misses a look. */
const HELD_MS = LOOK_MS + 5_000
const MOST_SESSIONS = 1_000

export function createStalls(deps: StallsDeps): Stalls {
  const { store, takeStep, records, operators, settings, push, clock, ids, logger } = deps
  const { jobs } = deps
  const { silenceOf, judge, remembered } = createSilenceJudge(settings, clock.now())
  const send = createSendNudge({ takeStep, push, defaultMessage: settings.nudgeMessage, clock, ids, logger })
  let cancelTimer = () => {}
  let isClosed = false

  async function look(sessionId: string): Promise<number> {
    const { result, session } = await takeStep(
      sessionId,
      (now): Step<ReturnType<typeof judge> & { alert: Alert | null }> => {
        const verdict = judge(now)
        const alert = alertOf(now) ?? null
        const result = { ...verdict, alert }
        if (verdict.due === 'raise') return { ...alarmed(now, newAlert(now, ids.uuid(), silenceOf(now))), result }
        if (verdict.due === 'escalate' && alert !== null) return { ...escalated(now, alert), result }
        return { result, ...remembered(now) }
      },
    )
    if (result.due === 'nudge') await send(session, { alert: result.alert, source: NUDGES_ITSELF })
    return result.due === null ? (result.waitMs ?? LOOK_MS) : Math.min(settings.escalationMs, LOOK_MS)
  }

  async function sweep(): Promise<number> {
    let waitMs = LOOK_MS
    const open = await store.supervised.sessions({ statuses: ['active'], limit: MOST_SESSIONS })
    for (const { id } of open) {
      try {
        waitMs = Math.min(waitMs, await look(id))
      } catch (error) {
        logger.warn('a supervised session could not be checked for silence', { session_id: id, error })
      }
    }
    return Math.max(waitMs, SHORTEST_MS)
  }

  async function tick(): Promise<void> {
    let waitMs = LOOK_MS
    try {
      await jobs.asHolder('stalls', HELD_MS, async () => {
        waitMs = await sweep()
      })
    } catch (error) {
      logger.warn('silence could not be checked', { error })
    }
    if (!isClosed) cancelTimer = clock.after(waitMs, () => void tick())
  }

  /** The alert, if it still wants something. */
  async function open(by: Caller, id: string): Promise<Alert> {
    const alert = await findAlert(records, by, id)
    refuseForeignCommand(operators, by, alert.owner, clock.now() - alert.createdAt)
    if (alert.status === 'self_recovered' || alert.status === 'dismissed') throw alreadyAnswered(alert, alert.status)
    return alert
  }

  /** Ends an alert that still wants something, and does `more` in the same step. The first answer wins. */
  async function settle(
    by: Caller,
    alertId: string,
    what: 'dismiss' | 'stop',
    more: (now: SessionNow) => Changes,
  ): Promise<Alert> {
    const alert = what === 'stop' ? ofAgent(await open(by, alertId)) : await open(by, alertId)
    const { result: isDone } = await takeStep(alert.sessionId, (now): Step<boolean> => {
      if (!now.waiting.some(({ id }) => id === alert.id)) return { result: false }
      const reason = what === 'stop' ? 'The session was stopped.' : null
      const patch = { status: 'dismissed', reason, ...decidedNow(by, now.at) } as const
      return { ...more(now), result: true, settle: [{ id: alert.id, patch }] }
    })
    const after = await findAlert(records, by, alertId)
    if (!isDone) throw alreadyAnswered(after, after.status)
    return after
  }

  async function sessionOf(sessionId: string): Promise<SupervisedSession> {
    return (await takeStep(sessionId, () => ({}))).session
  }

  return {
    async nudge(by, alertId, text) {
      if (text !== undefined) checkText(text)
      const alert = ofAgent(await open(by, alertId))
      const session = await sessionOf(alert.sessionId)
      const details = escalatedTo(operators, by, session.owner)
      await send(session, { alert, text, source: `${by.user} via ${wayOf(by)}`, details })
      return findAlert(records, by, alertId)
    },

    async nudgeSession(by, sessionId, text) {
      if (text !== undefined) checkText(text)
      const session = await sessionOf(sessionId)
      refuseForeignCommand(operators, by, session.owner)
      refuseEnded(session)
      await send(session, { alert: null, text, source: `${by.user} via ${wayOf(by)}` })
    },

    async setEnabled(by, sessionId, enabled) {
      const { session } = await takeStep(sessionId, (now): Changes => {
        refuseForeignCommand(operators, by, now.session.owner)
        refuseEnded(now.session)
        const { stallsOff = false } = now.session.supervision
        if (stallsOff === !enabled) return {}
        const what = enabled ? 'stalls_on' : 'stalls_off'
        const alert = alertOf(now)
        const patch = { status: 'dismissed', ...decidedNow(by, now.at) } as const
        return {
          // The next silence starts from here.
          supervision: { stallsOff: !enabled, silence: { ms: 0, seenAt: now.at }, nudgeCount: 0 },
          settle: alert === undefined ? [] : [{ id: alert.id, patch }],
          events: shownIn(now.session, activityEvent(ids.uuid(), what, { by: by.user }, now.at)),
          audit: [about(now.session, now.at, by.user, { what, ...viaOf(by) })],
        }
      })
      return session
    },

    dismiss: (by, alertId) =>
      settle(by, alertId, 'dismiss', (now) => ({
        supervision: { silence: { ms: 0, seenAt: now.at }, nudgeCount: 0 },
        audit: [aboutAlert('stall_dismissed', now, by, alertId, operators)],
      })),

    stop: (by, alertId) =>
      settle(by, alertId, 'stop', (now) => ({
        supervision: { status: 'terminated' },
        events: [activityEvent(ids.uuid(), 'terminated', { by: by.user, alert_id: alertId }, now.at)],
        audit: [aboutAlert('terminated', now, by, alertId, operators)],
      })),

    sweep,
    start() {
      if (settings.enabled) void tick()
    },

    async close() {
      isClosed = true
      cancelTimer()
      if (!settings.enabled) return
      try {
        const open = await store.supervised.sessions({ statuses: ['active'], limit: MOST_SESSIONS })
        for (const { id } of open) {
          await takeStep(id, (now) => ({ ...remembered(now, 0) })).catch(() => {})
        }
      } catch (error) {
        // The server stops all the same.
        logger.warn('the silence of agents could not be written down', { error })
      }
    },
  }
}

/** Throws `invalid_request` for an alert that is about no agent. */
function ofAgent(alert: Alert): Alert {
  if (alert.signIn === undefined) return alert
  throw new ServerError('invalid_request', 'This alert is about an MCP server. Sign in to it, or dismiss the alert.')
}

function alarmed({ at }: SessionNow, alert: Alert): Changes {
  const facts = { alert_id: alert.id, idle_seconds: alert.idleSeconds, last_tool: alert.lastTool }
  return { ask: [alert], events: [activityEvent(alert.id, 'stall', facts, at)] }
}

const escalated = ({ at, session }: SessionNow, alert: Alert): Changes => ({
  settle: [{ id: alert.id, patch: { status: 'escalated' } }],
  events: [activityEvent(`${alert.id}-escalated`, 'stall_escalated', { alert_id: alert.id }, at)],
  audit: [about(session, at, 'server', { what: 'stall_escalated', alert: alert.id })],
})

const aboutAlert = (what: string, now: SessionNow, by: Caller, alert: string, operators: Operators): AuditRecord =>
  about(now.session, now.at, by.user, { what, alert, ...viaOf(by), ...escalatedTo(operators, by, now.session.owner) })

interface Verdict {
  due: 'raise' | 'nudge' | 'escalate' | null
  /** In how many ms something is due. Null: nobody knows, look again. */
  waitMs: number | null
}

/** A crash forgets at most this much of a silence. */
const REMEMBER_MS = 60_000

const nothing: Verdict = { due: null, waitMs: null }

/** Says what the silence of an agent asks for. `startedAt` is when this server began to listen. */
function createSilenceJudge(settings: StallSettings, startedAt: number) {
  /** How long the agent has been silent, without the time while this server was down. */
  function silenceOf({ session: { supervision }, at }: SessionNow): number {
    const { silence, updatedAt } = supervision
    const since = Math.max(silence?.seenAt ?? updatedAt, startedAt)
    return (silence?.ms ?? 0) + Math.max(at - since, 0)
  }

  return {
    silenceOf,
    judge(now: SessionNow): Verdict {
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
    /** The step that writes the silence down, if there is more of it than `every` since the last time. */
    remembered(now: SessionNow, every = REMEMBER_MS): Changes {
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
