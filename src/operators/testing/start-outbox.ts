import { createOwnJobs, type Jobs } from '../../engine/sessions/jobs.ts'
import { createOutbox, type Outbox } from '../outbox.ts'

export type OutboxParts = Parameters<typeof createOutbox>[0] & { jobs?: Pick<Jobs, 'whileHeld'> }

/** An outbox that delivers until it is closed. */
export function startOutbox({ jobs, ...parts }: OutboxParts): Outbox {
  const outbox = createOutbox(parts)
  const delivering = (jobs ?? createOwnJobs(parts.clock)).whileHeld('channels', outbox.deliver)
  return {
    ...outbox,
    async close() {
      await delivering.close()
      await outbox.close()
    },
  }
}
