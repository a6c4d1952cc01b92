// An acknowledged cancel is heeded: by the process that took it, soon; by the next one, at once.

import { isFinished } from '../../../src/domain/session/run.ts'
import { type Checker, type Evidence, entriesOf } from '../evidence.ts'

const HEED_MS = 3_000
/** A store that fails can keep a process from going on with a run, until it looks after such runs again. */
const HEED_AFTER_FAILURE_MS = 13_000
/** A program that does not hear it is killed after a while. */
const HEED_PROGRAM_MS = 8_500

export const cancels: Checker = {
  name: 'cancels',
  check: (evidence) => [...checkHeeded(evidence), ...checkRecovered(evidence), ...checkWaiting(evidence)],
}

function checkHeeded({ history, faults, hosted }: Evidence): string[] {
  const time = faults.disk.callFails > 0 ? HEED_AFTER_FAILURE_MS : hosted === null ? HEED_MS : HEED_PROGRAM_MS
  return history.cancels.flatMap(({ runId, at, life, status }) => {
    if (isFinished(status)) return []
    const { to = null } = history.lives.find(({ number }) => number === life) ?? {}
    const isDisturbed =
      (to !== null && to < at + time) ||
      [...history.diskFull, ...history.troubles].some((one) => one.from < at + time && one.to > at)
    const endedAt = history.ends.get(runId) ?? Number.POSITIVE_INFINITY
    return isDisturbed || endedAt <= at + time
      ? []
      : [`run ${runId} went on for ${time} ms after its cancel was acknowledged`]
  })
}

function checkRecovered({ sessions }: Evidence): string[] {
  return [...sessions.values()].flatMap(({ log, runs }) =>
    runs.flatMap(({ id }) => {
      let isCancelled = false
      let isRecovered = false
      for (const entry of entriesOf(log, id)) {
        if (entry.kind === 'fact') {
          const { fact } = entry.fact
          if (fact === 'cancel_requested') isCancelled = true
          if (fact === 'run_recovered' && isCancelled) isRecovered = true
        } else if (isRecovered && entry.event.type === 'STEP_STARTED') {
          return [`run ${id} was cancelled, recovered, and went on`]
        }
      }
      return []
    }),
  )
}

/** What was cancelled while it waited, or before it could wait, is not gone on with by anybody. */
function checkWaiting({ history, sessions, runs }: Evidence): string[] {
  return history.cancels.flatMap(({ runId, status }) => {
    const run = runs.get(runId)
    if (run === undefined || isFinished(status)) return []
    if (run.status === 'waiting') return [`run ${runId} was cancelled and still waits`]
    const log = sessions.get(run.sessionId)?.log ?? []
    const asked = log.find(
      (entry) => entry.runId === runId && entry.kind === 'fact' && entry.fact.fact === 'cancel_requested',
    )
    const next = log.find(
      ({ kind, data, seq }) =>
        kind === 'event' &&
        seq > (asked?.seq ?? Number.POSITIVE_INFINITY) &&
        data.startsWith('{"type":"RUN_STARTED"') &&
        JSON.parse(data).parentRunId === run.wireId,
    )
    return next === undefined ? [] : [`run ${runId} was cancelled, and run ${next.runId} went on for it`]
  })
}
