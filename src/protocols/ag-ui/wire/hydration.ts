import { AG_UI_VERSION, type RunEvent, type RunEventOf } from '../../../domain/event.ts'
import { withWaitingCalls } from './waiting-calls.ts'
import type { Outcome } from './waiting-outcome.ts'

export interface Hydration {
  threadId: string
  runId: string
  /** Undefined when the session has none. */
  state: unknown
  snapshot: RunEventOf<'MESSAGES_SNAPSHOT'> | null
  /** What the reader is told beside it. */
  warnings?: readonly RunEvent[]
  outcome: Outcome
  timestamp: number
}

/** A run that only shows what is there. It is made for one reader: not stored, without ids. */
export function hydrationEvents({ threadId, runId, timestamp, ...hydration }: Hydration): RunEvent[] {
  const { state, snapshot, warnings = [], outcome } = hydration
  return [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: AG_UI_VERSION, timestamp },
    ...warnings,
    ...(state === undefined ? [] : [{ type: 'STATE_SNAPSHOT' as const, snapshot: state, timestamp }]),
    ...(snapshot === null ? [] : withWaitingCalls(snapshot, outcome)),
    { type: 'RUN_FINISHED', threadId, runId, outcome, timestamp },
  ]
}
