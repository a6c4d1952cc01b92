import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { isAsked, nobodyWaitsSince, type SupervisedRecord } from '../../domain/records/record.ts'
import type { Store } from '../../store/store.ts'
import type { RecordChanges } from '../sessions/await-record.ts'
import type { SessionParts } from '../sessions/take-step.ts'
import { type AgentCall, SERVER_STOPS } from './agent-service.ts'

type RetryWith = Readonly<Record<string, string>> | null

const CHECK_MS = 10_000

export interface WaitForAnswerDeps extends Pick<SessionParts, 'takeStep' | 'clock'> {
  changes: RecordChanges
  /** Why nobody can be reached for this session; null: somebody can. */
  trouble: (sessionId: string) => Promise<string | null>
  store: Pick<Store, 'waits'>
  expire(wait: SupervisedRecord): Promise<void>
}

/**
 * Waits until the record is answered or its time is over, at most as long as the host allows. Gives the record as it is then. Still
 * pending: nobody has answered, or the caller has gone. Throws `operator_unreachable` when nobody can be asked: the record goes on waiting,
 * and `retryWith` is what the agent asks again with. Null: with the same call.
 */
export function createWaitForAnswer({ changes, trouble, takeStep, store, clock, expire }: WaitForAnswerDeps) {
  /** Calls of this process that wait, by record. */
  const waiting = new Set<{ recordId: string; isRead: () => boolean }>()
  const hasReader = (id: string): boolean => [...waiting].some(({ recordId, isRead }) => recordId === id && isRead())

  /** Puts on record whether anybody waits for the answer. It decides nothing, so it must not fail a call either. */
  async function note({ id, sessionId }: SupervisedRecord, isWaitedFor: boolean): Promise<void> {
    await takeStep(sessionId, ({ waiting, at }) => {
      const record = waiting.find((one) => one.id === id)
      if (record === undefined || !isAsked(record)) return {}
      const { leftAt, ...supervised } = record.supervised
      if ((leftAt === undefined) === isWaitedFor) return {}
      const patch = {
        supervised: isWaitedFor ? supervised : { ...supervised, leftAt: at },
      } as Partial<SupervisedRecord>
      return { settle: [{ id, patch }] }
    }).catch(() => {})
  }

  /** Looks at the record now and after each change, until `look` gives something, the host's limit comes or the caller has gone. */
  async function waitFor<T extends SupervisedRecord>(
    call: Pick<AgentCall, 'signal' | 'limitMs'>,
    { id, sessionId }: T,
    retryWith: RetryWith,
    look: () => Promise<T | null>,
  ): Promise<T | 'pending' | 'gone'> {
    let hasNews = true
    let isLate = false
    let resume = () => {}
    const wake = () => {
      hasNews = true
      resume()
    }
    const stopWatching = changes.watch({ recordId: id, sessionId }, wake)
    const cancelTimer = clock.after(call.limitMs, () => {
      isLate = true
      resume()
    })
    call.signal.addEventListener('abort', wake)
    try {
      for (;;) {
        hasNews = false
        const value = await look()
        if (value !== null) return value
        if (call.signal.aborted) return 'gone'
        if (isLate) return 'pending'
        if (hasNews) continue
        const why = await trouble(sessionId)
        if (why !== null) throw unreachableOperator(why, id, retryWith)
        await new Promise<void>((resolve) => {
          const cancelCheck = clock.after(CHECK_MS, () => resolve())
          resume = () => {
            cancelCheck()
            resolve()
          }
          // It came while the trouble was looked for.
          if (hasNews || isLate) resume()
        })
      }
    } finally {
      stopWatching()
      cancelTimer()
      call.signal.removeEventListener('abort', wake)
    }
  }

  return async <T extends SupervisedRecord>(
    call: Pick<AgentCall, 'signal' | 'limitMs' | 'progress' | 'isRead'>,
    record: T,
    message: string,
    retryWith: RetryWith,
  ): Promise<T> => {
    call.progress(message)
    const { id: recordId, expiresAt } = record
    const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : Math.max(expiresAt - clock.now(), 0)
    const stopClock =
      // What expires after the call is for the housekeeping. A timer could not be that long either.
      record.status !== 'pending' || leftMs > call.limitMs
        ? () => {}
        : clock.after(leftMs, () => void expire(record).catch(() => {}))
    const { isRead = () => true } = call
    const caller = { recordId, isRead: () => !call.signal.aborted && isRead() }
    waiting.add(caller)
    let unreadSince: number | null = null
    let isTold = false
    let hasGone = false
    try {
      const waited = await waitFor(call, record, retryWith, async () => {
        const now = (await store.waits.get(recordId)) as T | null
        if (now === null || now.status !== 'pending') return now
        // This call waits, whatever the end of another one has left on record.
        if (caller.isRead() && nobodyWaitsSince(now) !== null) await note(now, true)
        unreadSince = isRead() ? null : (unreadSince ?? clock.mono())
        // Most clients resume a cut stream at once, and nobody needs to hear of that.
        const isCut = unreadSince !== null && clock.mono() - unreadSince >= CHECK_MS
        // Said once: who waits at another server takes it back, and nobody must say it again then.
        if (isCut && !isTold && !hasReader(recordId)) await note(now, false)
        isTold = isCut
        return null
      })
      hasGone = waited === 'gone' && call.signal.reason !== SERVER_STOPS
      return typeof waited === 'string' ? record : waited
    } finally {
      stopClock()
      waiting.delete(caller)
      if (hasGone && !hasReader(recordId)) await note(record, false)
    }
  }
}

function unreachableOperator(why: string, id: string, retryWith: RetryWith): ServerError {
  const how = retryWith === null ? 'Make the same call again' : `Call again with ${JSON.stringify(retryWith)}`
  return new ServerError(
    'operator_unreachable',
    `Your operator cannot be reached just now: ${why} This is not an answer: your question is kept and can still be answered. ${how} in a few minutes. Do not go on without the answer.`,
    { details: present({ id, retry_with: retryWith ?? undefined }) },
  )
}
