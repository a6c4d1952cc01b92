// The programs of hosted agents that run here, one for each session. A program is held while it works or waits, and until its session has
// been idle for `sessions.ttl`. Among several replicas one holds it, by a lease, and takes the runs of its session.

import type { HostSettings } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import { stoppedError } from '../../domain/session/session.ts'
import type { ProgressItem, Supervision } from '../../domain/supervision/supervision.ts'
import type { HostParts, Lane } from '../../engine/run/run-scope.ts'
import { LeftToAnother } from '../../engine/run/run-scope.ts'
import type { AcpWords } from '../../hosts/host.ts'
import type { Shared } from '../../store/ports/shared.ts'
import type { Store } from '../../store/store.ts'
import { activity } from '../agent-service/answer-call.ts'
import type { RecordChanges } from '../sessions/await-record.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import { findSupervised } from '../sessions/take-step.ts'
import type { ChangeSet, SetChange } from '../worktrees/change-set.ts'
import type { Place } from './ask-permission.ts'
import type { Said } from './said.ts'
import { storyOf } from './story.ts'
import type { Talk } from './talk.ts'
import type { Terminals } from './terminals.ts'

/** The program of a session, with all that a run needs of it. */
export interface Held {
  readonly session: SupervisedSession
  readonly talk: Talk
  readonly words: AcpWords
  readonly terminals: Terminals | null
  readonly place: Place
  onProgress(progress: { items?: ProgressItem[]; lastTool?: string }): void
  /** The next thing it says. Null: there is a nudge for it. */
  next(signal: AbortSignal): Promise<Said | null>
  takeNudge(): string | null
  /** Why it cannot be talked to any more: its operator may have ended it. */
  whyGone(error: unknown): Promise<unknown>
  lastUsed(): void
  /** What a program that knows nothing of the conversation is told first. Once. */
  storySoFar(): Promise<string[]>
  /** Before each prompt: what people changed in the workspace since. */
  refresh(): Promise<void>
  /** What it has changed and nobody has decided about. Null: nothing, or it asks about each file by itself. */
  changes(): Promise<ChangeSet | null>
  settled(changes: readonly SetChange[]): Promise<void>
  discard(paths: readonly string[]): Promise<void>
  /** Null: the file is like that already. */
  proposeWrite(file: { path: string; content: string }): Promise<ChangeSet | null>
  newId(): string
}

/** A program that was just started for a session. */
export interface Started {
  talk: Talk
  /** It remembers the conversation. */
  isSame: boolean
  words: AcpWords
  terminals: Terminals | null
  place: Place
  files: Pick<Held, 'refresh' | 'changes' | 'settled' | 'discard' | 'proposeWrite'>
}

export interface HeldTalksDeps {
  store: Pick<Store, 'sessions' | 'messages' | 'supervised'>
  takeStep: TakeStep
  changes: RecordChanges
  shared: Pick<Shared, 'hold' | 'release'>
  /** Name of this process. */
  owner: string
  /** See `Supervision.place`. */
  place: string | null
  clock: Clock
  ids: Ids
  logger: Logger
  start: StartHost
}

/** Starts the program. `earlier`: its own name for the conversation. `onHeard` is called for everything that it says. */
export type StartHost = (
  session: SupervisedSession,
  host: HostSettings,
  how: { earlier: string | null; onHeard: () => void },
) => Promise<Started>

/** The lease of a program, and how often it is renewed. A replica that dies leaves its sessions to others after that time. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** The agent has been heard from. Written at most so often. */
const HEARD_MS = 10_000
/** As long as this a run of another replica's session is left alone before somebody looks again. */
const ELSEWHERE_MS = 2_000
/** More than are ever open. */
const MOST_SESSIONS = 10_000

interface Entry {
  held: Held
  usedAt: number
  nudges: string[]
  ttlMs: number
  /** Wakes the run that listens. */
  nudged: EventTarget
  stop(): void
}

export type HeldTalks = ReturnType<typeof createHeldTalks>

export function createHeldTalks(deps: HeldTalksDeps) {
  const { store, takeStep, changes, shared, owner, place, clock, ids, logger, start } = deps
  const held = new Map<string, Entry>()
  const starting = new Map<string, Promise<Entry>>()
  const ending = new Map<string, Promise<void>>()
  /** How many runs are at work in a session, or wait for its program: one that was broken off may still wait. */
  const users = new Map<string, number>()
  const elsewhere = new Map<string, number>()
  let cancelRenewal = () => {}
  let isClosed = false

  const job = (sessionId: string): string => `hosted/${sessionId}`

  async function take(sessionId: string): Promise<void> {
    if (await shared.hold(job(sessionId), owner, LEASE_MS)) return void elsewhere.delete(sessionId)
    elsewhere.set(sessionId, clock.mono() + ELSEWHERE_MS)
    throw new LeftToAnother()
  }

  async function renew(): Promise<void> {
    for (const sessionId of [...held.keys(), ...starting.keys()]) {
      try {
        const isOurs = await shared.hold(job(sessionId), owner, LEASE_MS)
        const entry = held.get(sessionId)
        // It hung for so long that another replica has taken the session. What is left here may do no harm.
        if (!isOurs && entry !== undefined) await letGo(sessionId, entry)
      } catch (error) {
        logger.warn('the lease of an agent’s program could not be renewed', { session_id: sessionId, error })
      }
    }
    if (!isClosed) cancelRenewal = clock.after(RENEW_MS, () => void renew())
  }
  cancelRenewal = clock.after(RENEW_MS, () => void renew())

  /** The session works now: it counts against the limits, and its silence is listened to. */
  async function wake(sessionId: string): Promise<SupervisedSession> {
    const found = await findSupervised(store, sessionId)
    if (found.supervision.hosted === undefined) {
      throw new ServerError(
        'session_ended',
        'This session began before its agent worked in a program. Begin a new one.',
      )
    }
    // A started session counts already. Here it has to find its place among those that are open.
    await takeStep(sessionId, ({ session: { supervision } }) =>
      supervision.status === 'created' ? { supervision: { status: 'interrupted' } } : {},
    )
    const { session } = await takeStep(sessionId, (now) => {
      const { status } = now.session.supervision
      if (status === 'terminated') throw stoppedError(status)
      const { supervision, ...heard } = activity(now)
      // What was begun before the operator paused it goes on. `work-run.ts` refuses what is new.
      const next = status === 'paused' ? status : 'active'
      // While its program starts, nobody waits to hear from it.
      const begins = { status: next, stallPaused: !held.has(sessionId) } as const
      return { ...heard, supervision: { ...supervision, ...begins, ...present({ place: place ?? undefined }) } }
    })
    return session
  }

  /** A session that rests frees its place for one that works. */
  async function wakeBeside(sessionId: string): Promise<SupervisedSession> {
    try {
      return await wake(sessionId)
    } catch (error) {
      if (!hasCode(error, 'limit')) throw error
      const { sessions = [] } = error.details
      for (const id of Array.isArray(sessions) ? sessions : []) await restIfAlone(String(id))
      const owned = (await store.sessions.get(sessionId))?.owner
      const idle = [...held].filter(([id, { held: one }]) => one.session.owner === owned && isIdle(id, one))
      const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
      if (oldest !== undefined) await end(...oldest)
      return wake(sessionId)
    }
  }

  const isIdle = (sessionId: string, { talk }: Held): boolean =>
    !users.has(sessionId) && !talk.isPrompting && talk.requests.length === 0

  async function begin(lane: Lane<HostParts>, session: SupervisedSession): Promise<Entry> {
    const { host, sessions } = lane.agent.definition
    const { id } = session
    let heardAt = Number.NEGATIVE_INFINITY
    const onHeard = () => {
      if (clock.mono() - heardAt < HEARD_MS) return
      heardAt = clock.mono()
      void takeStep(id, activity).catch(() => {})
    }
    let progress: Partial<Supervision> = {}
    let isReporting = false
    /** One at a time: of a program that is quicker, the newest counts. */
    async function report(news: Partial<Supervision>): Promise<void> {
      progress = { ...progress, ...news }
      if (isReporting) return
      isReporting = true
      while (Object.keys(progress).length > 0) {
        const now = progress
        progress = {}
        await takeStep(id, (step) => {
          const { supervision, ...heard } = activity(step)
          return { ...heard, supervision: { ...supervision, ...now } }
        }).catch(() => {})
      }
      isReporting = false
    }
    const earlier = session.supervision.hosted?.acpSession ?? null
    const started = await start(session, host, { earlier, onHeard })
    const { talk, isSame } = started
    const { session: now } = await takeStep(id, ({ session: { supervision }, at }) => ({
      supervision: {
        stallPaused: false,
        updatedAt: at,
        hosted: { ...supervision.hosted, acpSession: talk.acpSession },
        spawned: talk.pid === undefined ? null : { pid: talk.pid, startedAt: at },
      },
    })).catch(async (error: unknown) => {
      // Nobody would know of it.
      await talk.close().catch(() => {})
      throw error
    })
    let isStoryDue = !isSame
    const nudged = new EventTarget()
    const entry: Entry = {
      usedAt: clock.mono(),
      nudges: [],
      nudged,
      ttlMs: sessions.ttlSeconds * 1_000,
      stop: () => {},
      held: {
        session: now,
        ...started,
        ...started.files,
        onProgress: ({ items, lastTool }) => void report(present({ progressSnapshot: items, lastTool })),
        async next(signal) {
          signal.throwIfAborted()
          const said = talk.nextNow()
          if (said !== null) return said
          const either = new AbortController()
          const wakeUp = () => either.abort()
          nudged.addEventListener('nudge', wakeUp)
          signal.addEventListener('abort', wakeUp, { once: true })
          try {
            return await talk.next(either.signal)
          } catch (error) {
            signal.throwIfAborted()
            if (either.signal.aborted) return null
            throw error
          } finally {
            nudged.removeEventListener('nudge', wakeUp)
            signal.removeEventListener('abort', wakeUp)
          }
        },
        takeNudge: () => entry.nudges.shift() ?? null,
        async whyGone(error) {
          const status = (await store.sessions.get(id))?.supervision?.status
          return status === 'terminated' ? stoppedError(status) : error
        },
        lastUsed: () => {
          entry.usedAt = clock.mono()
        },
        async storySoFar() {
          if (!isStoryDue) return []
          isStoryDue = false
          return storyOf(store, id, lane.scope.run.id, earlier !== null)
        },
        newId: ids.uuid,
      },
    }
    entry.stop = changes.watch({ recordId: id, sessionId: id }, () => void look(id, entry))
    held.set(id, entry)
    if (isClosed) {
      await end(id, entry)
      throw stopping()
    }
    // Its operator may have ended it while the program started.
    void look(id, entry)
    return entry
  }

  /** A session that its operator ends takes the program with it. */
  async function look(sessionId: string, entry: Entry): Promise<void> {
    const session = await store.sessions.get(sessionId).catch(() => null)
    if (session?.supervision?.status === 'terminated' || session?.status === 'terminated') await end(sessionId, entry)
  }

  /** Whoever wants to hold the session waits for it: the lease that is given back must not be theirs. */
  function end(sessionId: string, entry: Entry): Promise<void> {
    const ended = ending.get(sessionId) ?? giveBack(sessionId, entry).finally(() => ending.delete(sessionId))
    ending.set(sessionId, ended)
    return ended
  }

  async function giveBack(sessionId: string, entry: Entry): Promise<void> {
    await letGo(sessionId, entry)
    await takeStep(sessionId, ({ session: { supervision } }) => ({
      supervision: { spawned: null, ...(supervision.status === 'active' ? { status: 'interrupted' as const } : {}) },
    })).catch(() => {})
    await shared.release(job(sessionId), owner).catch(() => {})
  }

  /** Ends the program. The session may be another replica's already. */
  async function letGo(sessionId: string, entry: Entry): Promise<void> {
    if (held.get(sessionId) === entry) held.delete(sessionId)
    entry.stop()
    await entry.held.talk
      .close()
      .catch((error: unknown) =>
        logger.warn('the program of an agent could not be ended', { session_id: sessionId, error }),
      )
  }

  /** Nothing of the session works, here or elsewhere: its program ended with an earlier process. It counts against no limit then. */
  async function restIfAlone(sessionId: string): Promise<void> {
    if (isUsed(sessionId)) return
    const { supervision } = await findSupervised(store, sessionId)
    if (supervision.hosted === undefined || supervision.turnEnded !== true) return
    if (!(await shared.hold(job(sessionId), owner, LEASE_MS))) return
    const { result: rests } = await takeStep(sessionId, ({ session: { supervision: now } }) => {
      const rests = !isUsed(sessionId) && now.status === 'active' && now.turnEnded === true
      return { result: rests, supervision: rests ? { status: 'interrupted' as const, spawned: null } : {} }
    })
    if (rests && !isUsed(sessionId)) await shared.release(job(sessionId), owner)
  }

  const isUsed = (sessionId: string): boolean => users.has(sessionId) || held.has(sessionId) || starting.has(sessionId)

  function count(sessionId: string, change: number): void {
    const now = (users.get(sessionId) ?? 0) + change
    if (now > 0) users.set(sessionId, now)
    else users.delete(sessionId)
  }

  async function holdNow(lane: Lane<HostParts>): Promise<Held> {
    const sessionId = lane.scope.run.sessionId
    if (isClosed) throw stopping()
    await ending.get(sessionId)
    await take(sessionId)
    const known = held.get(sessionId)
    // Its lease stays ours.
    if (known?.held.talk.isGone) await letGo(sessionId, known)
    const session = await wakeBeside(sessionId)
    const running = held.get(sessionId)
    if (running !== undefined) {
      running.held = Object.assign(running.held, { session })
      return running.held
    }
    const begun = starting.get(sessionId) ?? begin(lane, session).finally(() => starting.delete(sessionId))
    starting.set(sessionId, begun)
    return (await begun).held
  }

  return {
    /** The program of this run's session, started if it does not run. Throws `LeftToAnother` if another replica holds it. Call `rest` afterwards. */
    async hold(lane: Lane<HostParts>): Promise<Held> {
      const { sessionId } = lane.scope.run
      // Once for the run, until it rests; once for this, which a run that is stopped leaves behind.
      count(sessionId, 2)
      try {
        return await holdNow(lane)
      } finally {
        count(sessionId, -1)
      }
    },

    isHeldElsewhere: (sessionId: string): boolean => (elsewhere.get(sessionId) ?? 0) > clock.mono(),

    /** The work of a run is over for now: silence means nothing until there is more. `isOurs`: another process did not have the program. */
    async rest(sessionId: string, isOurs: boolean): Promise<void> {
      count(sessionId, -1)
      if (!isOurs) return
      await takeStep(sessionId, (now) => {
        const { supervision, ...heard } = activity(now)
        return { ...heard, supervision: { ...supervision, turnEnded: true, stallPaused: false } }
      }).catch(() => {})
    },

    /**
     * Stops a program that has hung, and asks it again. False: it hears it with its next prompt. A call that is silent may be a long build,
     * so only a person breaks it off.
     */
    nudge(sessionId: string, text: string, isByPerson: boolean): boolean {
      const entry = held.get(sessionId)
      if (entry === undefined || !entry.held.talk.isPrompting || entry.held.talk.requests.length > 0) return false
      const calls = [...entry.held.talk.calls.values()]
      if (!isByPerson && calls.some(({ id, isOver }) => id !== null && !isOver)) return false
      entry.nudges.push(text)
      entry.nudged.dispatchEvent(new Event('nudge'))
      return true
    },

    /** Ends programs that nobody has used for their session's time to live. Called every few seconds. */
    async tidy(): Promise<void> {
      for (const [sessionId, entry] of [...held]) {
        if (isIdle(sessionId, entry.held) && clock.mono() - entry.usedAt >= entry.ttlMs) await end(sessionId, entry)
      }
      for (const { id } of await store.supervised.sessions({ statuses: ['active'], limit: MOST_SESSIONS })) {
        await restIfAlone(id).catch((error: unknown) =>
          logger.warn('a session without a program could not be put to rest', { session_id: id, error }),
        )
      }
    },

    get size(): number {
      return held.size
    },

    async close(): Promise<void> {
      isClosed = true
      cancelRenewal()
      await Promise.all([...held].map(([sessionId, entry]) => end(sessionId, entry)))
    },
  }
}

const stopping = (): ServerError =>
  new ServerError('shutting_down', 'The server is stopping. Send it again in a moment.')
