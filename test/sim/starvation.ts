// A reader that reads is shown within a second what may be shown. Looked at while the trial runs: afterwards nobody can tell
// when something came.

import type { History } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Net } from './net.ts'

const LATE_MS = 1_000

/** `slackMs`: how much longer news may take from another replica, which may have to be found by polling. */
export function createStarvationWatch(kernel: Kernel, history: History, net: Net, slackMs: number): { look(): void } {
  return {
    look() {
      const late = kernel.time - LATE_MS - slackMs
      if (history.troubles.some(({ from, to }) => from < kernel.time && to > late)) return
      for (const { label, target, serving, position, idleSince } of net.streams) {
        if (idleSince === null || idleSince > late) continue
        const missed = serving.showable
          .get(target.sessionId)
          ?.find(
            ({ seq, runId, kind, at }) =>
              seq > position &&
              at < late &&
              (target.runId === undefined || (target.runId === runId && kind === 'event')),
          )
        if (missed === undefined) continue
        const message = `${label} stands at ${position}; ${missed.seq} could be shown since ${missed.at.toFixed(1)}`
        history.findings.push({ checker: 'starvation', message })
      }
    },
  }
}
