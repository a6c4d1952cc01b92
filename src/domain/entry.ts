// The entries of a session's log: one sequence, two kinds.

import type { TokenUsage } from './event.ts'
import type { Effect } from './tool-settings.ts'

/** `data` is JSON text, made once: what is stored is what every AG-UI 1.0 reader gets. It never holds a raw newline. */
export interface Entry {
  seq: number
  /** The run it belongs to (our id, not the wire's), or null for a fact outside a run. */
  runId: string | null
  kind: EntryKind
  data: string
}

/** Events are AG-UI events of a run. Facts are ours and never appear on an AG-UI stream. */
export type EntryKind = 'event' | 'fact'

/** The closed union of facts. */
export type Fact =
  | { fact: 'run_accepted'; run: string; message_ids: string[]; at: number }
  /** `died`: its last owner died with it, and had not given it back. */
  | { fact: 'run_recovered'; run: string; fence: number; died?: true; at: number }
  /** Its owner was told to stop: if it goes now, nothing of the run did that. */
  | { fact: 'stopping'; run: string; at: number }
  | { fact: 'cancel_requested'; run: string; by: string; at: number }
  /** A call is about to begin. Written with the consumption of its approval, where it had one. `lane`: of a sub-agent. */
  | {
      fact: 'tool_intent'
      run: string
      call: string
      tool: string
      effect: Effect
      binding?: string
      approval?: string
      lane?: string
      at: number
    }
  /** `lane`: of a sub-agent. */
  | { fact: 'step_finished'; run: string; step: number; usage: TokenUsage[]; lane?: string; at: number }
  | { fact: 'handed_over'; run: string; to: string; at: number }

export const factText = (fact: Fact): string => JSON.stringify(fact)
