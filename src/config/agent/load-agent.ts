// One agent file -> AgentDefinition.

import type { AgentDefinition } from '../../domain/agent.ts'
import { ConfigError, type ConfigIssue } from '../config-error.ts'
import { linkAgents } from './link-agents.ts'
import type { LoadOptions } from './read-agent.ts'

/**
 * The agent of this file. Files of other agents that its tools name are checked with it, but only `loadAgents` returns them:
 * an agent with such tools is served with that. Throws a `ConfigError` with everything that is wrong.
 */
export function loadAgent(path: string, options: LoadOptions): AgentDefinition {
  const { agent, issues } = checkAgent(path, options)
  if (agent === null) throw new ConfigError(issues)
  return agent
}

/** Like `loadAgent`, but hands the issues back; the agent is null when there are any. */
export function checkAgent(
  path: string,
  options: LoadOptions,
): { agent: AgentDefinition | null; issues: ConfigIssue[] } {
  const { agents, issues } = linkAgents([path], options)
  return { agent: issues.length === 0 ? (agents[0] ?? null) : null, issues }
}
