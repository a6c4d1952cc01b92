import { createOwnJobs, type Jobs } from '../../engine/sessions/jobs.ts'
import { createOutbox, noChanges, type Outbox } from '../outbox.ts'

type Wired = Parameters<typeof createOutbox>[0]
export type OutboxParts = Pick<Wired, 'channels' | 'feed' | 'store' | 'log' | 'clock' | 'logger'> &
  Partial<Wired> & { jobs?: Pick<Jobs, 'whileHeld'> }

/** Delivers until it is closed. By default its process has the store for itself, and shows at once what concerns a channel and is new. */
export function startOutbox({ jobs, ...parts }: OutboxParts): Outbox {
  const outbox = createOutbox({
    changes: noChanges,
    shownFrom: async () => 0,
    stillWaits: async () => false,
    ...parts,
  })
  const delivering = (jobs ?? createOwnJobs(parts.clock)).whileHeld('channels', outbox.deliver)
  return {
    ...outbox,
    async close() {
      await delivering.close()
      await outbox.close()
    },
  }
}
