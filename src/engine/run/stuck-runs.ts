// Runs that have ended but cannot store their end, because the disk is full. They try again until there is space; their readers do not
// wait for that.

import type { ServerError } from '../../domain/errors.ts'
import { PassingMap } from '../../domain/passing.ts'

export interface StuckRuns {
  /** Told again and again while the run is stuck, so readers that come later hear of it too. */
  tell(runId: string, why: ServerError): void
  /** Calls `heard` until the returned function is called. */
  listen(runId: string, heard: (why: ServerError) => void): () => void
}

export function createStuckRuns(): StuckRuns {
  const listeners = new PassingMap<string, Set<(why: ServerError) => void>>()
  return {
    tell(runId, why) {
      for (const heard of [...(listeners.get(runId) ?? [])]) heard(why)
    },
    listen(runId, heard) {
      const ofRun = listeners.get(runId) ?? new Set()
      listeners.set(runId, ofRun.add(heard))
      return () => {
        ofRun.delete(heard)
        if (ofRun.size === 0) listeners.delete(runId)
      }
    },
  }
}
