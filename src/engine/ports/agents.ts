import type { AgentDefinition } from '../../domain/agent.ts'
import type { Tool } from '../../tools/tool.ts'

/** The agents that the server offers. Agents that only other agents call are not among them. */
export interface Agents {
  readonly list: readonly AgentDefinition[]
  /** By name; null is the default agent. Throws `agent_not_found`. */
  get(name: string | null): AgentDefinition
  /** The tools that the agent can call now. */
  tools(name: string | null, signal: AbortSignal): Promise<readonly Tool[]>
}
