// Loads agents from files, or from folders of files.

import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { AgentToolSettings, ToolSettings } from '../../domain/agent/tool-settings.ts'
import { ConfigError, type ConfigIssue, distinctIssues, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, diskFiles, fileProblem, readText } from '../source/config-files.ts'
import { type LoadOptions, type ReadAgent, readAgent } from './read-agent.ts'

/**
 * The agents of these paths, in order and each file once; then the agents that only they call (`internal`). Names are unique.
 * Exactly one agent is the default: the one that says so, otherwise the first. Throws a `ConfigError` with all mistakes.
 */
export function loadAgents(paths: readonly string[], options: LoadOptions): AgentDefinition[] {
  const { agents, issues } = checkAgents(paths, options)
  if (issues.length > 0) throw new ConfigError(issues)
  return agents
}

interface CheckedAgents {
  agents: AgentDefinition[]
  issues: ConfigIssue[]
}

/** Like `loadAgents`, but returns the issues. */
export function checkAgents(paths: readonly string[], options: LoadOptions): CheckedAgents {
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
  return /^(model|host|instructions)[ \t]*:/m.test(readText(files, file).text ?? '')
}

function noAgentIn(folder: string): ConfigIssue {
  const message =
    'this folder has no agent. Looked for *.yaml files with model or instructions, and for agent.yaml in its ' +
    'subfolders. Create one with: quarterdeck init'
  return issueWithoutLine(message, { file: folder })
}

// Agent files can name the files of other agents. This reads those too, each once, and replaces the paths with the agents' names.

/**
 * Loads the agents of these files, in order, and then all agents that they name, in the order they were found. Agents may name each other
 * in a circle.
 */
function linkAgents(files: readonly string[], options: LoadOptions): CheckedAgents {
  const found = new Map<string, ReadAgent>()
  const issues: ConfigIssue[] = []
  const isServed = new Set<ReadAgent>()
  for (const file of files) {
    const path = resolve(file)
    if (found.has(path)) continue
    const one = readAgent(file, options)
    found.set(path, one)
    isServed.add(one)
  }
  // Iterating over a map also visits the entries that are added on the way.
  for (const one of found.values()) issues.push(...followTools(one, found, options))

  const all = [...found.values()]
  const agents = all.flatMap((one) => {
    const { agent } = one
    if (agent === null) return []
    const isInternal = !isServed.has(one)
    const tools = agent.tools.map((tool, index) => linkTool(tool, index, one, found, issues))
    return [{ ...agent, tools, internal: isInternal, default: agent.default && !isInternal }]
  })
  return { agents, issues: distinctIssues([...all.flatMap((one) => one.issues), ...issues, ...clashes(all, isServed)]) }
}

/** Reads the agents that the tools of this agent name. A missing file is a mistake at the tool. */
function followTools(one: ReadAgent, found: Map<string, ReadAgent>, options: LoadOptions): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  for (const [index, tool] of (one.yaml?.tools ?? []).entries()) {
    if (tool.type !== 'agent') continue
    const file = isAbsolute(tool.agent) ? tool.agent : join(dirname(one.file), tool.agent)
    const path = resolve(file)
    if (found.has(path)) continue
    const problem = fileProblem(options.files ?? diskFiles, path)
    if (problem === null) found.set(path, readAgent(file, options))
    else {
      const message = `${path}: ${problem}. Paths are relative to this file.`
      issues.push(one.issueAt(['tools', index, 'agent'], message))
    }
  }
  return issues
}

function linkTool(
  tool: ToolSettings,
  index: number,
  from: ReadAgent,
  found: ReadonlyMap<string, ReadAgent>,
  issues: ConfigIssue[],
): ToolSettings {
  if (tool.type !== 'agent') return tool
  const other = found.get(tool.agent)?.agent
  // Its mistakes were already reported.
  if (other === undefined || other === null) return tool
  if (tool.description === null && other.description.length < MIN_DESCRIPTION) {
    const message =
      `neither this tool nor the agent ${other.name} has a description of at least ${MIN_DESCRIPTION} characters. ` +
      'Write e.g. description: Explains a topic step by step.'
    issues.push(from.issueAt(['tools', index], message))
  }
  if (other.host !== null) {
    const message = `${other.name} works in a coding agent’s own program and has sessions of its own, so it cannot be a tool. Remove this one.`
    issues.push(from.issueAt(['tools', index, 'agent'], message))
  }
  const written = from.yaml?.tools[index]
  const linked: AgentToolSettings = { ...tool, agent: other.name }
  // A run of another agent takes longer than a function call, and that agent's own file limits it.
  if (written?.type === 'agent' && written.timeout === undefined) linked.timeoutMs = other.limits.durationMs
  return linked
}

const MIN_DESCRIPTION = 10

function clashes(all: readonly ReadAgent[], isServed: ReadonlySet<ReadAgent>): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  const byName = new Map<string, string>()
  let theDefault: string | null = null
  for (const one of all) {
    const { agent, file, issueAt } = one
    if (agent === null) continue
    const other = byName.get(agent.name)
    if (other === undefined) byName.set(agent.name, file)
    else issues.push(issueAt(['name'], `${other} already uses the name ${agent.name}. Give each agent its own name.`))
    if (!agent.default || !isServed.has(one)) continue
    if (theDefault === null) theDefault = file
    else issues.push(issueAt(['default'], `${theDefault} is already the default. Keep default: true in only one file.`))
  }
  return issues
}
