import type { AuditRecord } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Caller } from '../../domain/decision.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { ProgressItem } from '../../domain/supervision.ts'
import type { Alert, SupervisedWait } from '../../domain/wait.ts'
import { createOwnJobs, type Jobs } from '../../engine/sessions/jobs.ts'
import type { Store } from '../../store/store.ts'
import { newRecord } from '../records/new-record.ts'
import { alreadyAnswered, type Records } from '../records/records.ts'
import { checkText } from '../sessions/check-text.ts'
import {
  channelOf,
  escalatedTo,
  type Operators,
  refuseEnded,
  refuseForeignCommand,
  viaOf,
} from '../sessions/may-command.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import { about, type SessionNow, type Step, type SupervisedSession, type TakeStep } from '../sessions/take-step.ts'
import type { Nudge, PushNudge, StallSettings, Stalls } from './stalls.ts'

interface StallsDeps {
  store: Pick<Store, 'supervised'>
  takeStep: TakeStep
  records: Records
  operators: Operators
  settings: StallSettings
  push: PushNudge
  /** Left out: no other process uses the store. */
  jobs?: Jobs
  clock: Clock
  ids: Ids
  logger: Logger
}

/** A session that begins meanwhile is seen after this time at the latest. */
const LOOK_MS = 10_000
const SHORTEST_MS = 100
/** The process that looks goes on with it until it misses a look. */
const HELD_MS = LOOK_MS + 5_000
/** A crash forgets at most this much of a silence. */
const REMEMBER_MS = 60_000
const MOST_SESSIONS = 1_000

export function createStalls(deps: StallsDeps): Stalls {
  const { store, takeStep, records, operators, settings, push, clock, ids, logger } = deps
  const { jobs = createOwnJobs(clock) } = deps
  const startedAt = clock.now()
  let cancelTimer = () => {}
  let isClosed = false

  /** How long the agent has been silent, without the time while this server was down. */
  function silenceOf({ session: { supervision }, at }: SessionNow): number {
    const { silence, updatedAt } = supervision
    const since = Math.max(silence?.seenAt ?? updatedAt, startedAt)
    return (silence?.ms ?? 0) + Math.max(at - since, 0)
  }

  /** What is due for this session, and in how many ms the next thing is. */
  function judge(now: SessionNow): { due: 'alert' | 'nudge' | 'escalate' | null; waitMs: number; isPaused?: boolean } {
    const { session, waiting, at } = now
    const { status, stallPaused, nudgeCount } = session.supervision
    if (status !== 'active' || stallPaused || waiting.some(isWaitedFor))
      return { due: null, waitMs: LOOK_MS, isPaused: true }
    const alert = alertOf(now)
    if (alert === undefined) {
      const left = settings.inactivityMs - silenceOf(now)
      return left <= 0 ? { due: 'alert', waitMs: 0 } : { due: null, waitMs: left }
    }
    if (alert.status === 'escalated') return { due: null, waitMs: LOOK_MS }
    const since = Math.max(alert.lastNudgeAt ?? alert.createdAt, startedAt)
    const left = since + settings.escalationMs - at
    if (left > 0) return { due: null, waitMs: left }
    return { due: nudgeCount >= settings.maxRetries ? 'escalate' : 'nudge', waitMs: 0 }
  }

  function newAlert(now: SessionNow): Step<null> {
    const { at } = now
    const { supervision } = now.session
    const silentMs = silenceOf(now)
    const alert: Alert = {
      ...newRecord(now, ids.uuid()),
      wait: 'alert',
      expiresAt: null,
      callId: '',
      tool: '',
      arguments: '{}',
      supervised: { host: supervision.host },
      lastTool: supervision.lastTool,
      lastActivityAt: supervision.updatedAt,
      idleSeconds: Math.round(silentMs / 1_000),
      nudgeCount: supervision.nudgeCount,
      nudgeMessage: null,
      lastNudgeAt: null,
      nudgedBy: null,
      progressSnapshot: supervision.progressSnapshot,
    }
    const facts = { alert_id: alert.id, idle_seconds: alert.idleSeconds, last_tool: alert.lastTool }
    return { result: null, ask: [alert], events: [noticeEvent(alert.id, 'stall', facts, at)] }
  }

  /**
   * Pushes the nudge, then writes which way it took. It also goes out with the result of the next call, because hosts may drop what is
   * pushed.
   */
  async function send(
    session: SupervisedSession,
    alert: Alert | null,
    text: string,
    source: string,
    more: AuditRecord['details'] = {},
  ): Promise<void> {
    const { nudgeCount, updatedAt } = session.supervision
    const idleSeconds = Math.round((clock.now() - updatedAt) / 1_000)
    const nudge: Nudge = { sessionId: session.id, message: text, nudgeCount: nudgeCount + 1, idleSeconds, source }
    const way = await push(nudge).catch((error: unknown) => {
      logger.warn('a nudge could not be pushed', { session_id: session.id, error })
      return null
    })
    await takeStep(session.id, (now) => {
      const open = alertOf(now)
      const facts = { message: text, by: source, way: way ?? 'the next result', nudge_count: nudge.nudgeCount }
      // The push may have woken the agent already. Then the next silence begins at none.
      const isBack = now.session.supervision.updatedAt > updatedAt
      return {
        result: null,
        supervision: { openNudge: text, ...(isBack ? {} : { nudgeCount: nudge.nudgeCount }) },
        events: [noticeEvent(ids.uuid(), 'nudge', facts, now.at)],
        ...(open === undefined || (alert !== null && open.id !== alert.id)
          ? {}
          : { settle: [{ id: open.id, patch: nudged(open, nudge, way, now.at) }] }),
        audit: [
          about(now.session, now.at, source, { what: 'nudge', way: way ?? 'none', count: nudge.nudgeCount, ...more }),
        ],
      }
    })
  }

  async function look(sessionId: string): Promise<number> {
    const { result, session } = await takeStep(
      sessionId,
      (now): Step<ReturnType<typeof judge> & { alert: Alert | null }> => {
        const verdict = judge(now)
        const alert = alertOf(now) ?? null
        const result = { ...verdict, alert }
        if (verdict.due === 'alert') return { ...newAlert(now), result }
        if (verdict.due === 'escalate' && alert !== null) return { ...escalated(now, alert), result }
        return { result, ...(verdict.isPaused ? {} : remembered(now, silenceOf(now))) }
      },
    )
    if (result.due === 'nudge') await send(session, result.alert, nudgeText(settings, session), 'quarterdeck')
    return result.due === null ? result.waitMs : Math.min(settings.escalationMs, LOOK_MS)
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
    const alert = await records.get('alert', by, id)
    refuseForeignCommand(operators, by, alert.owner, clock.now() - alert.createdAt)
    if (alert.status === 'self_recovered' || alert.status === 'dismissed') throw alreadyAnswered(alert, alert.status)
    return alert
  }

  /** Ends an alert that still wants something, and does `more` in the same step. The first answer wins. */
  async function settle(by: Caller, alertId: string, more: (now: SessionNow) => Step<null>): Promise<Alert> {
    const alert = await open(by, alertId)
    const { result: isDone } = await takeStep(alert.sessionId, (now): Step<boolean> => {
      if (!now.waiting.some(({ id }) => id === alert.id)) return { result: false }
      const patch = { status: 'dismissed', decidedAt: now.at, decidedBy: by.user, decidedVia: channelOf(by) } as const
      return { ...more(now), result: true, settle: [{ id: alert.id, patch }] }
    })
    const after = await records.get('alert', by, alertId)
    if (!isDone) throw alreadyAnswered(after, after.status)
    return after
  }

  async function sessionOf(sessionId: string): Promise<SupervisedSession> {
    return (await takeStep(sessionId, () => ({ result: null }))).session
  }

  return {
    async nudge(by, alertId, text) {
      if (text !== undefined) checkText(text)
      const alert = await open(by, alertId)
      const session = await sessionOf(alert.sessionId)
      const source = `${by.user} via ${channelOf(by)}`
      const escalated = escalatedTo(operators, by, session.owner)
      await send(session, alert, text ?? nudgeText(settings, session), source, escalated)
      return records.get('alert', by, alertId)
    },

    async nudgeSession(by, sessionId, text) {
      if (text !== undefined) checkText(text)
      const session = await sessionOf(sessionId)
      refuseForeignCommand(operators, by, session.owner)
      refuseEnded(session)
      await send(session, null, text ?? nudgeText(settings, session), `${by.user} via ${channelOf(by)}`)
    },

    dismiss: (by, alertId) =>
      settle(by, alertId, (now) => ({
        result: null,
        supervision: { silence: { ms: 0, seenAt: now.at }, nudgeCount: 0 },
        audit: [aboutAlert('stall_dismissed', now, by, alertId, operators)],
      })),

    stop: (by, alertId) =>
      settle(by, alertId, (now) => ({
        result: null,
        supervision: { status: 'terminated' },
        events: [noticeEvent(ids.uuid(), 'terminated', { by: by.user, alert_id: alertId }, now.at)],
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
          const remember = (now: SessionNow): Step<null> => ({
            result: null,
            ...(judge(now).isPaused ? {} : remembered(now, silenceOf(now), 0)),
          })
          await takeStep(id, remember).catch(() => {})
        }
      } catch (error) {
        // The server stops all the same.
        logger.warn('the silence of agents could not be written down', { error })
      }
    },
  }
}

/** The agent waits for the answer. Nobody waits for a policy to be accepted: the agent goes on meanwhile. */
const isWaitedFor = (wait: SupervisedWait): boolean =>
  wait.wait !== 'alert' && !(wait.wait === 'approval' && wait.kind === 'policy')

const alertOf = ({ waiting }: SessionNow): Alert | undefined =>
  waiting.find((wait): wait is Alert => wait.wait === 'alert')

/** Writes the silence down from time to time. */
function remembered({ session, at }: SessionNow, ms: number, every = REMEMBER_MS): Pick<Step<null>, 'supervision'> {
  const { silence } = session.supervision
  return ms - (silence?.ms ?? 0) > every ? { supervision: { silence: { ms, seenAt: at } } } : {}
}

const nudged = (alert: Alert, { message, nudgeCount }: Nudge, way: string | null, at: number): Partial<Alert> => ({
  ...(alert.status === 'pending' ? { status: 'nudged' as const } : {}),
  nudgeCount,
  nudgeMessage: message,
  lastNudgeAt: at,
  nudgedBy: way,
})

const escalated = ({ at, session }: SessionNow, alert: Alert): Step<null> => ({
  result: null,
  settle: [{ id: alert.id, patch: { status: 'escalated' } }],
  events: [noticeEvent(`${alert.id}-escalated`, 'stall_escalated', { alert_id: alert.id }, at)],
  audit: [about(session, at, 'server', { what: 'stall_escalated', alert: alert.id })],
})

const aboutAlert = (what: string, now: SessionNow, by: Caller, alert: string, operators: Operators): AuditRecord =>
  about(now.session, now.at, by.user, { what, alert, ...viaOf(by), ...escalatedTo(operators, by, now.session.owner) })

/** The configured text, with the checklist as the agent last told it. */
function nudgeText({ defaultMessage }: StallSettings, { supervision }: SupervisedSession): string {
  const items = supervision.progressSnapshot ?? []
  if (items.length === 0) return defaultMessage
  const named = (status: ProgressItem['status']) =>
    items.filter((one) => one.status === status).map(({ label }) => label)
  const done = named('done')
  const open = [...named('in_progress'), ...named('pending')]
  const sums = [
    `${done.length} of ${items.length} steps are done.`,
    ...(open.length === 0 ? [] : [`Next: ${open.slice(0, 5).join('; ')}.`]),
  ]
  return `${defaultMessage} ${sums.join(' ')}`
}
