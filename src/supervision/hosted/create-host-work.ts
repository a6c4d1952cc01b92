// The work of hosted agents: holds their programs, and does their runs.

import { untilAborted } from '../../domain/abort.ts'
import { sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { StepBroken } from '../../engine/loop/model-step.ts'
import type { HostWork } from '../../engine/ports/host-work.ts'
import { LeftToAnother } from '../../engine/run/run-scope.ts'
import { createHeldTalks, type HeldTalksDeps } from './held-talks.ts'
import { hostFailed } from './talk.ts'
import { workRun } from './work-run.ts'
import type { WorkDeps } from './working.ts'

export interface HostWorkDeps
  extends Omit<HeldTalksDeps, 'store'>,
    Omit<WorkDeps, 'pause' | 'store' | 'clock' | 'ids' | 'takeStep'> {
  store: WorkDeps['store'] & HeldTalksDeps['store']
}

export interface HostedWork extends HostWork {
  nudge(sessionId: string, text: string, isByPerson: boolean): boolean
  tidy(): Promise<void>
  close(): Promise<void>
}

export function createHostWork(deps: HostWorkDeps): HostedWork {
  const { clock, ids } = deps
  const talks = createHeldTalks(deps)
  const pause = (ms: number, signal: AbortSignal) => sleep(clock, ms, signal)

  return {
    async work(lane) {
      const { scope } = lane
      const { sessionId } = scope.run
      let isOurs = true
      try {
        // A program that takes long to start goes on with that, for the next message.
        const held = await untilAborted(talks.hold(lane), scope.signal)
        return await workRun({ ...deps, clock, ids, pause }, lane, held)
      } catch (error) {
        isOurs = !(error instanceof LeftToAnother)
        if (!isOurs || error instanceof StepBroken || error instanceof ServerError) throw error
        scope.signal.throwIfAborted()
        throw hostFailed('The server’s log has the reason.', error)
      } finally {
        await talks.rest(sessionId, isOurs)
      }
    },
    isHeldElsewhere: talks.isHeldElsewhere,
    nudge: talks.nudge,
    tidy: talks.tidy,
    close: talks.close,
  }
}
