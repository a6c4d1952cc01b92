// Warnings to a client about its own request. AG-UI has no event for a warning, so it is a CUSTOM event. It is made for one reader: it
// has no id and is not stored.

import type { Entry } from '../../../domain/session/entry.ts'
import type { RunEvent } from '../../../domain/session/event.ts'

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
 * Yields the same entries, and calls `tell` right after the first event of the run: nothing may come before the first event or after
 * the last one. With `replaced`, `tell` sends its own first event.
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
