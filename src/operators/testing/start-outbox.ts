import { createOwnJobs, type Jobs } from '../../engine/sessions/jobs.ts'
import { createOwnChanges } from '../../replicas/replica.ts'
import { createOutbox, type Outbox } from '../outbox.ts'

type OutboxDeps = Parameters<typeof createOutbox>[0]
type Usual = 'changes' | 'shownFrom' | 'stillWaits'

export type OutboxParts = Omit<OutboxDeps, Usual> &
  Partial<Pick<OutboxDeps, Usual>> & { jobs?: Pick<Jobs, 'whileHeld'> }

/** An outbox that delivers until it is closed. Its process has the store for itself, and shows at once what is new for a channel. */
export function startOutbox({ jobs, ...parts }: OutboxParts): Outbox {
  const outbox = createOutbox({
    changes: createOwnChanges(),
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
