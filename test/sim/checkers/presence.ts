// A dropped connection is not a decision: a run that nobody cancelled is stopped only when nobody has read it, or all of its
// session, for the grace time. A new message behind it ends that time, but never stops a run that somebody reads.

import { type Checker, entriesOf, factsIn } from '../evidence.ts'

/** Between the decision and the end that could be shown, if the store does its work. */
const STOPPING_MS = 500
/** Without it, the end is tried again and again. */
const DISTURBED_MS = 3_000
/** A replica hears of another's readers so much later, and not at all of those who left by then. */
const NEWS_MS = 2_500

export const presence: Checker = {
  name: 'presence',
  check: ({ history, sessions, faults, hosted }) => {
    const { graceMs, disk } = faults
    return [...sessions.values()].flatMap(({ id, log, runs, supervision }) =>
      runs.flatMap((run) => {
        const endedAt = history.ends.get(run.id)
        if (run.status !== 'cancelled' || endedAt === undefined) return []
        if (factsIn(entriesOf(log, run.id)).some(({ fact }) => fact === 'cancel_requested')) return []
        // Its operator has ended it; and whether somebody reads means nothing to a hosted agent.
        if (supervision?.status === 'terminated') return []
        if (hosted !== null) return [`run ${run.id} of a hosted agent was cancelled by nobody`]
        const isFollowed = runs.some(
          ({ id: other, input, firstSeq }) =>
            other !== run.id && input.stopsUnread === true && (firstSeq ?? Infinity) > (run.firstSeq ?? 0),
        )
        const grace = isFollowed ? 0 : graceMs
        if (grace === null) return [`run ${run.id} was cancelled by nobody`]
        if (disk.callFails > 0) return []
        const disturbed = [...history.diskFull, ...history.troubles]
        if (disturbed.some(({ from, to }) => from < endedAt && to > endedAt - DISTURBED_MS)) return []
        const news = faults.cluster === null ? 0 : NEWS_MS
        const reader = history.streams.find(
          ({ sessionId, runId, from, to }) =>
            sessionId === id &&
            (runId === null || runId === run.id) &&
            from < endedAt - STOPPING_MS - news &&
            to > endedAt - grace &&
            to - from >= news,
        )
        return reader === undefined
          ? []
          : [`run ${run.id} was stopped for want of readers while ${reader.label} read it`]
      }),
    )
  },
}
