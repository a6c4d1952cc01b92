import type { MessageReads } from '../store/ports/messages.ts'
import type { Agents } from './ports/agents.ts'
import type { Runs } from './ports/runs.ts'
import type { Sessions } from './ports/sessions.ts'
import type { Waits } from './ports/waits.ts'

/** The heart of the server. A door asks for the ports that it needs: `Pick<Engine, 'runs' | 'sessions'>`, or one of them. */
export interface Engine {
  readonly agents: Agents
  readonly sessions: Sessions
  readonly runs: Runs
  /** What was said, as the store has it. */
  readonly messages: Omit<MessageReads, 'all' | 'ofLane'>
  readonly waits: Waits

  stats(): EngineStats
  /** Takes over the runs that a dead process left behind; called at start and then regularly. */
  recover(): Promise<void>
  /**
   * Takes no new work and lets running work finish for `ms`, then suspends background runs and marks the others. `crashed`: the
   * process ends because something failed, so what it cuts off counts as a death when it is recovered.
   */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

export interface EngineStats {
  activeRuns: number
  queuedRuns: number
  readers: number
  runsStarted: number
  runsFinished: Readonly<Record<string, number>>
  tokens: { input: number; output: number }
  draining: boolean
}
