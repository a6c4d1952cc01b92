import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { MessageReads } from '../store/ports/messages.ts'
import type { Tool } from '../tools/tool.ts'
import type { Apps } from './apps/create-apps.ts'
import type { Runs } from './ports/runs.ts'
import type { Sessions } from './ports/sessions.ts'
import type { Waits } from './ports/waits.ts'

/** What the server does, in small ports. A door asks for those that it needs: `Pick<Engine, 'runs' | 'sessions'>`. */
export interface Engine {
  readonly agents: Agents
  readonly sessions: Sessions
  readonly runs: Runs
  /** Stored messages. */
  readonly messages: Omit<MessageReads, 'all' | 'ofLane'>
  readonly waits: Waits
  /** What the apps of MCP servers ask for. */
  readonly apps: Apps

  stats(): EngineStats
  /** Takes over the runs that a dead process left behind; called at start and then regularly. */
  recover(): Promise<void>
  /**
   * Takes no new work and gives running work `ms` to finish. Then it suspends background runs and ends the others as interrupted.
   * `crashed`: the process ends because of a failure, so the next owner counts a cut-off run as a crash.
   */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

interface EngineStats {
  activeRuns: number
  queuedRuns: number
  readers: number
  runsStarted: number
  runsFinished: Readonly<Record<string, number>>
  tokens: { input: number; output: number }
  /** Runs that this process took over, by why they had no owner. */
  takenOver: Readonly<Record<string, number>>
  /** The name under which this process executes runs. */
  replica: string
  draining: boolean
}

/** The agents that the server offers. Agents that only other agents call are not among them. */
export interface Agents {
  readonly list: readonly AgentDefinition[]
  /** By name; null is the default agent. Throws `agent_not_found`. */
  get(name: string | null): AgentDefinition
  /** The tools that the agent can call now. */
  tools(name: string | null, signal: AbortSignal, user?: string): Promise<readonly Tool[]>
}
