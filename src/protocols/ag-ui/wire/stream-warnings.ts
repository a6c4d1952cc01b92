// What a reader is told of its own request beside the run: AG-UI has no word for a warning, so it is a CUSTOM event. Made for that
// reader: no id, not stored.

import type { Entry } from '../../../domain/entry.ts'
import type { RunEvent } from '../../../domain/event.ts'

export interface InputWarning {
  /** For programs. */
  code: 'unknown_interrupt' | 'answered_interrupt'
  /** For people. */
  message: string
  interruptId: string
}

export const warningEvents = (warnings: readonly InputWarning[], timestamp: number): RunEvent[] =>
  warnings.map((value) => ({ type: 'CUSTOM', name: 'quarterdeck:warning', value: { ...value }, timestamp }))

/**
 * The same entries, and `tell` is called right behind the run's first event: nothing may come before that, nothing after its last.
 * `replaced`: `tell` sends a first event of its own.
 */
export async function* behindFirst(
  source: AsyncIterable<readonly Entry[]>,
  tell: () => Promise<void>,
  firstEvent: 'sent' | 'replaced' = 'sent',
): AsyncGenerator<readonly Entry[]> {
  let told = false
  for await (const batch of source) {
    const first = told ? -1 : batch.findIndex(({ kind }) => kind === 'event')
    if (first < 0) {
      yield batch
      continue
    }
    told = true
    const rest = batch.slice(first + 1)
    if (firstEvent === 'sent') yield batch.slice(0, first + 1)
    await tell()
    if (rest.length > 0) yield rest
  }
}
