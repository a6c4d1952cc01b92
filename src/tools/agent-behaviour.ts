import { readFileSync } from 'node:fs'
import type { AgentDefinition, ModelSettings } from '../domain/agent.ts'
import type { FunctionToolSettings, ToolSettings } from '../domain/tool-settings.ts'
import { textHash } from './function/module-source.ts'
import type { Tool } from './tool.ts'

/** What a tool may have to know of an agent. */
export type KnownAgent = Pick<
  AgentDefinition,
  'name' | 'description' | 'instructions' | 'model' | 'approval' | 'responseFormat' | 'tools'
> & {
  /** The tools that it is given in code. */
  given?: readonly Pick<Tool, 'name' | 'binding'>[]
}

type SourceOf = (tool: FunctionToolSettings) => Promise<unknown>

/**
 * What another agent is made of, as far as it decides what it does: instructions, model, rules, tools, and the agents it calls
 * in turn. Of what its MCP servers say of themselves nothing is known here: their calls are judged where they are made.
 * `sourceOf` is the source of a function tool's module.
 */
export async function agentMakeup(
  name: string,
  agents: readonly KnownAgent[],
  sourceOf: SourceOf,
  above: readonly string[] = [],
): Promise<unknown> {
  const agent = agents.find((one) => one.name === name)
  if (agent === undefined || above.includes(name)) return { name }
  const inner = (other: string) => agentMakeup(other, agents, sourceOf, [...above, name])
  const { instructions, model, approval, responseFormat, tools, given = [] } = agent
  return {
    ...{ name, instructions, approval, responseFormat },
    model: modelMakeup(model),
    tools: await Promise.all(tools.map((tool) => toolMakeup(tool, sourceOf, inner))),
    ...(given.length === 0 ? {} : { given: given.map(({ name, binding }) => ({ name, binding })) }),
  }
}

/** A file that cannot be read is reported by the agent that needs it. */
function documentHash(file: string): string | null {
  try {
    return textHash(readFileSync(file))
  } catch {
    return null
  }
}

/** Without its key: a new one changes nothing. */
function modelMakeup({ apiKey: _key, fallback, ...model }: ModelSettings): unknown {
  return { ...model, ...(fallback === undefined ? {} : { fallback: modelMakeup(fallback) }) }
}

async function toolMakeup(
  tool: ToolSettings,
  sourceOf: SourceOf,
  inner: (agent: string) => Promise<unknown>,
): Promise<unknown> {
  switch (tool.type) {
    case 'function':
      return { ...tool, source: await sourceOf(tool) }
    case 'agent':
      return { ...tool, agent: await inner(tool.agent) }
    case 'http': {
      const { url: _url, headers: _headers, body: _body, ...rest } = tool
      return tool.bound === undefined ? tool : { ...rest, origin: URL.parse(tool.url)?.origin }
    }
    case 'openapi': {
      const { baseUrl, headers: _headers, ...rest } = tool
      if (tool.bound === undefined) return tool
      return {
        ...rest,
        origin: baseUrl === null ? null : URL.parse(baseUrl)?.origin,
        document: documentHash(tool.file),
      }
    }
    case 'mcp': {
      const { connection, ...rest } = tool
      if (tool.bound === undefined) return tool
      return { ...rest, origin: connection.kind === 'http' ? URL.parse(connection.url)?.origin : null }
    }
    default:
      return tool
  }
}
