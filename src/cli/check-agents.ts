// Finds what a start would refuse, without starting: keys and models, and tools with the code and documents that they name.

import { statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { LoadedConfig } from '../app/load-config.ts'
import { type ConfigIssue, distinctIssues, issueWithoutLine } from '../config/config-error.ts'
import type { AgentDefinition, ModelAgent } from '../domain/agent/agent.ts'
import type { McpServerSettings, ToolSettings } from '../domain/agent/tool-settings.ts'
import { ServerError } from '../domain/errors.ts'
import { createIds } from '../domain/ids.ts'
import { silentLogger } from '../domain/logger.ts'
import { closedAfter } from './data-directory.ts'
import type { Io } from './terminal/io.ts'
import { counted } from './terminal/terminal-text.ts'

export interface AgentCheckDeps {
  version: string
  io: Io
  /** A new number each time the files of function tools have changed. Null: they do not change. */
  reload: number | null
}

/** All problems with their places. Loads function modules; starts and asks nothing else. */
export async function checkAgents(config: LoadedConfig, deps: AgentCheckDeps): Promise<ConfigIssue[]> {
  const issues: ConfigIssue[] = []
  for (const agent of config.agents) {
    const problem = await modelProblem(agent, deps)
    if (problem !== null) issues.push(issueOf(config, agent.name, ['model'], problem))
    issues.push(...(await hostIssues(config, agent, deps.io, true)))
    issues.push(...(await embeddingIssues(agent, config, deps)))
    issues.push(...(await toolIssues(agent, config, deps)))
    issues.push(...(await scheduleIssues(config, agent, deps.io, true)))
  }
  return distinctIssues(issues)
}

/** MCP servers whose command does not exist. The server starts anyway, and the agent lacks their tools. */
export function missingCommands({ agents, places }: LoadedConfig, io: Io): ConfigIssue[] {
  return agents.flatMap((agent) =>
    agent.tools.flatMap((tool, index) => {
      const command = tool.type === 'mcp' ? missingCommand(tool.connection, io) : null
      if (command === null) return []
      const message = `there is no command ${JSON.stringify(command)}, so the agent will lack the tools of ${tool.name}. Install it, or write its full path.`
      return [places.get(agent.name)?.(['tools', index, 'command'], message) ?? issueWithoutLine(message)]
    }),
  )
}

/** Single times that are over: a file may keep them. */
export async function scheduleWarnings(config: LoadedConfig, io: Io): Promise<ConfigIssue[]> {
  const found = config.agents.map((agent) => scheduleIssues(config, agent, io, false))
  return (await Promise.all(found)).flat()
}

async function scheduleIssues(
  { places }: LoadedConfig,
  { name, schedules = [] }: AgentDefinition,
  { clock }: Io,
  isRefused: boolean,
): Promise<ConfigIssue[]> {
  const issues: ConfigIssue[] = []
  for (const [index, { times }] of schedules.entries()) {
    const { timesProblem } = await import('../schedules/times.ts')
    const problem = (times.type === 'cron') === isRefused ? timesProblem(times, clock.now()) : null
    if (problem === null) continue
    issues.push(places.get(name)?.(['schedules', index, times.type], problem) ?? issueWithoutLine(problem))
  }
  return issues
}

/** What is missing for hosted agents on this machine, and does not keep the server from starting. */
export async function hostWarnings(config: LoadedConfig, io: Io): Promise<ConfigIssue[]> {
  const found = config.agents.map((agent) => hostIssues(config, agent, io, false))
  return (await Promise.all(found)).flat()
}

async function hostIssues(
  { places }: LoadedConfig,
  agent: AgentDefinition,
  io: Io,
  isRefused: boolean,
): Promise<ConfigIssue[]> {
  if (agent.host === null) return []
  const { lookAtHost } = await import('./look-at-host.ts')
  const all = await lookAtHost(agent, io)
  const found = all.filter(({ status, isNeeded }) => status !== 'ok' && (status === 'fail' && isNeeded) === isRefused)
  return found.map(({ path, detail, mend }) => {
    const message = mend === '' ? detail : `${detail}. ${mend}`
    return places.get(agent.name)?.([...path], message) ?? issueWithoutLine(message)
  })
}

async function modelProblem(agent: AgentDefinition, { version, io }: AgentCheckDeps): Promise<ServerError | null> {
  if (agent.host !== null) return null
  await using source = await modelSource(agent, version, io)
  try {
    await source.create()
    return null
  } catch (error) {
    if (error instanceof ServerError) return error
    throw error
  }
}

/** Creates the model of an agent. Its connections end with the block. */
export async function modelSource({ model, directory }: ModelAgent, version: string, { clock }: Io) {
  const { createModel } = await import('../models/create-model.ts')
  const { createModelHttp } = await import('../models/wire/model-http.ts')
  const { createConnections } = await import('../outgoing/connections.ts')
  const connections = createConnections()
  const http = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
  const ids = createIds(() => clock.now())
  return {
    http,
    create: () => createModel(model, { http, clock, ids, random: Math.random, log: silentLogger, directory }),
    ...closedAfter(connections),
  }
}

async function embeddingIssues(agent: AgentDefinition, config: LoadedConfig, deps: AgentCheckDeps) {
  const issues: ConfigIssue[] = []
  if (agent.host !== null || !agent.tools.some(({ type }) => type === 'knowledge')) return issues
  const { createEmbedding } = await import('../models/embedding/create-embedding.ts')
  const { clock } = deps.io
  const { directory } = agent
  await using source = await modelSource(agent, deps.version, deps.io)
  for (const [index, tool] of agent.tools.entries()) {
    if (tool.type !== 'knowledge' || tool.embedding === null) continue
    const needs = { http: source.http, clock, random: Math.random, log: silentLogger, directory }
    await createEmbedding(tool.embedding, needs).catch((error: unknown) => {
      if (!(error instanceof ServerError)) throw error
      issues.push(issueOf(config, agent.name, ['tools', index, 'embedding'], error))
    })
  }
  return issues
}

async function toolIssues(agent: AgentDefinition, config: LoadedConfig, deps: AgentCheckDeps): Promise<ConfigIssue[]> {
  if (agent.tools.length === 0) return []
  // What tools need is loaded for agents that have some.
  const { lookAtEach } = await import('./commands/doctor/tool-checks.ts')
  const toolDeps = { ...deps, agents: config.agents, proxyVariables: config.settings.tools.proxy }
  const looks = await lookAtEach(agent.tools, agent.tools, toolDeps)
  return looks.flatMap(({ tool, problem }) => {
    const path = tool === null ? ['tools'] : ['tools', agent.tools.indexOf(tool)]
    return problem === null ? [] : [issueOf(config, agent.name, path, problem)]
  })
}

/** Points at the line of code if it is known, otherwise at the key of the agent file. */
function issueOf({ places }: LoadedConfig, agent: string, path: (string | number)[], error: ServerError): ConfigIssue {
  const { file, line, tool } = error.details
  if (typeof file === 'string' && typeof line === 'number' && typeof tool === 'string') {
    const subject = `tool ${tool}`
    const message = error.message.replace(`${file}:${line} ${subject}: `, '')
    return { ...issueWithoutLine(message, { file, path: subject }), line }
  }
  return places.get(agent)?.(path, error.message) ?? issueWithoutLine(error.message)
}

function missingCommand(connection: McpServerSettings['connection'], { env }: Io): string | null {
  if (connection.kind === 'http') return null
  const { command, directory } = connection
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true
  if (/[\\/]/.test(command)) return isFile(resolve(directory, command)) ? null : command
  const folders = (connection.env.PATH ?? env.PATH ?? '').split(delimiter)
  const endings = process.platform === 'win32' ? ['', ...(env.PATHEXT ?? '.EXE').split(';')] : ['']
  const found = folders.some((folder) => endings.some((ending) => isFile(join(folder, `${command}${ending}`))))
  return found ? null : command
}

/** Like `2 tools, 1 MCP server, documents in handbook`. Only asking a server, or reading a document, would show how many tools it has. */
export function toolCount(tools: readonly ToolSettings[]): string {
  const servers = tools.filter(({ type }) => type === 'mcp').length
  const documents = tools.filter(({ type }) => type === 'openapi').length
  const searched = tools.filter(({ type }) => type === 'knowledge').map(({ name }) => name)
  const single = tools.length - servers - documents - searched.length
  const parts = [
    ...(single > 0 || tools.length === 0 ? [counted(single, 'tool')] : []),
    ...(servers > 0 ? [counted(servers, 'MCP server')] : []),
    ...(documents > 0 ? [counted(documents, 'OpenAPI file')] : []),
    ...(searched.length > 0 ? [`documents in ${searched.join(', ')}`] : []),
  ]
  return parts.join(', ')
}
