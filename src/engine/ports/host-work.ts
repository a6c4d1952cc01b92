// The port to agents that work in the program of a coding agent. The engine knows runs, readers and waits; whoever implements this knows
// processes and their protocol. `supervision/hosted` does.

import type { LoopEnd } from '../loop/agent-loop.ts'
import type { HostParts, Lane } from '../run/run-scope.ts'

export interface HostWork {
  /**
   * Does the work of a run, or goes on with it: a new message, the answer to what the program asked, or what is left after a crash. Ends it
   * as the model loop does. Throws what ends the run, a `StepBroken` if an answer stopped half-way.
   */
  work(lane: Lane<HostParts>): Promise<LoopEnd>
  /** Another process holds the program of this session, so that one has to take its runs. Known without asking anybody. */
  isHeldElsewhere(sessionId: string): boolean
}
