import type { Clock } from '../../domain/clock.ts'
import { createOwnJobs } from '../../engine/sessions/jobs.ts'
import { noChanges } from '../outbox.ts'

/** Parts of an outbox whose process has the store for itself, and shows at once what concerns a channel and is new. */
export const aloneOnStore = (clock: Clock) => ({
  jobs: createOwnJobs(clock),
  changes: noChanges,
  shownFrom: async () => 0,
  stillWaits: async () => false,
})
