import type { Clock } from '../../domain/clock.ts'
import type { RecordChanges } from '../sessions/await-record.ts'
import type { AgentCall } from './agent-desk.ts'

/** `pending`: the host's limit comes first. `gone`: the caller has left. Neither decides anything. */
export type Waited<T> = { type: 'answered'; value: T } | { type: 'pending' } | { type: 'gone' }

/** Looks at the record now and after each change, until `look` gives something. */
export type WaitFor = <T>(
  call: Pick<AgentCall, 'signal' | 'limitMs' | 'progress'>,
  ids: { recordId: string; sessionId: string },
  message: string,
  look: () => Promise<T | null>,
) => Promise<Waited<T>>

export function createWaitFor({ changes, clock }: { changes: RecordChanges; clock: Clock }): WaitFor {
  return async (call, ids, message, look) => {
    call.progress(message)
    let hasNews = true
    let isLate = false
    let resume = () => {}
    const wake = () => {
      hasNews = true
      resume()
    }
    const stopWatching = changes.watch(ids, wake)
    const cancelTimer = clock.after(call.limitMs, () => {
      isLate = true
      resume()
    })
    call.signal.addEventListener('abort', wake)
    try {
      for (;;) {
        hasNews = false
        const value = await look()
        if (value !== null) return { type: 'answered', value }
        if (call.signal.aborted) return { type: 'gone' }
        if (isLate) return { type: 'pending' }
        if (hasNews) continue
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
    } finally {
      stopWatching()
      cancelTimer()
      call.signal.removeEventListener('abort', wake)
    }
  }
}
