// P3: when the faults are over, everything comes to its end.

import { isFinished } from '../../../src/domain/session/run.ts'
import type { Checker } from '../evidence.ts'

export const liveness: Checker = {
  name: 'liveness',
  check: ({ runs, unfinished, history }) => [
    ...[...runs.values()]
      .filter(({ status }) => !isFinished(status))
      .map(({ id, status, leaseOwner }) => `run ${id} is still ${status}, owner ${leaseOwner}`),
    ...unfinished.map((client) => `${client} still waits for an answer`),
    ...history.readers
      .filter(({ end, runId }) => end === null && runId !== null)
      .map(({ name }) => `${name} never saw the end of its run`),
  ],
}
