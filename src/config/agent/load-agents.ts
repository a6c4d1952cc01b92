// Loads agents from files, or from folders of files.

import { basename, join, resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import { ConfigError, type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, diskFiles, readText } from '../source/config-files.ts'
import { linkAgents } from './link-agents.ts'
import type { LoadOptions } from './read-agent.ts'

/**
 * The agents of these paths, in order and each file once; then the agents that only they call (`internal`). Names are unique.
 * Exactly one agent is the default: the one that says so, otherwise the first. Throws a `ConfigError` with all mistakes.
 */
export function loadAgents(paths: readonly string[], options: LoadOptions): AgentDefinition[] {
  const { agents, issues } = checkAgents(paths, options)
  if (issues.length > 0) throw new ConfigError(issues)
  return agents
}

/** Like `loadAgents`, but returns the issues. */
export function checkAgents(
  paths: readonly string[],
  options: LoadOptions,
): { agents: AgentDefinition[]; issues: ConfigIssue[] } {
  const issues: ConfigIssue[] = []
  const found = new Map<string, string>()
  for (const path of paths) {
    const files = agentFilesAt(path, options.files ?? diskFiles)
    if (files.length === 0) issues.push(noAgentIn(path))
    for (const file of files) if (!found.has(resolve(file))) found.set(resolve(file), file)
  }
  if (paths.length === 0) issues.push(issueWithoutLine('no agent file was given.'))

  const linked = linkAgents([...found.values()], options)
  issues.push(...linked.issues)
  const hasDefault = linked.agents.some((agent) => agent.default)
  const agents = linked.agents.map((agent, index) => ({
    ...agent,
    default: hasDefault ? agent.default : index === 0 && !agent.internal,
  }))
  return { agents, issues }
}

/**
 * The agent of this file. Agents that its tools name are checked too, but not returned; use `loadAgents` to serve an agent with
 * such tools. Throws a `ConfigError` with every mistake.
 */
export function loadAgent(path: string, options: LoadOptions): AgentDefinition {
  const { agent, issues } = checkAgent(path, options)
  if (agent === null) throw new ConfigError(issues)
  return agent
}

/** Like `loadAgent`, but returns the issues; the agent is null if there are any. */
export function checkAgent(
  path: string,
  options: LoadOptions,
): { agent: AgentDefinition | null; issues: ConfigIssue[] } {
  const { agents, issues } = linkAgents([path], options)
  return { agent: issues.length === 0 ? (agents[0] ?? null) : null, issues }
}

/** The path itself; for a folder, its agent files or, if it has none, those of its subfolders. */
function agentFilesAt(path: string, files: ConfigFiles): string[] {
  const entries = files.list(path)
  if (entries === null) return [path]
  const own = entries
    .filter((entry) => !entry.isFolder && /\.ya?ml$/.test(entry.name))
    .map((entry) => join(path, entry.name))
    .filter((file) => looksLikeAgent(file, files))
  if (own.length > 0) return own
  return entries
    .filter((entry) => entry.isFolder && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .flatMap((folder) => {
      const inside = files.list(join(path, folder.name)) ?? []
      const agent = inside.find((entry) => isAgentName(entry.name) && !entry.isFolder)
      return agent === undefined ? [] : [join(path, folder.name, agent.name)]
    })
}

const isAgentName = (name: string): boolean => name === 'agent.yaml' || name === 'agent.yml'

// Looks at the text, not at the data: an agent with a syntax error must be reported, not skipped.
function looksLikeAgent(file: string, files: ConfigFiles): boolean {
  if (isAgentName(basename(file))) return true
  if (/^quarterdeck\.ya?ml$/.test(basename(file))) return false
  return /^(model|instructions)[ \t]*:/m.test(readText(files, file).text ?? '')
}

function noAgentIn(folder: string): ConfigIssue {
  const message =
    'this folder has no agent. Looked for *.yaml files with model or instructions, and for agent.yaml in its ' +
    'subfolders. Create one with: quarterdeck init'
  return issueWithoutLine(message, { file: folder })
}
