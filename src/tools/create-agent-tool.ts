// The `agent` kind: another agent, called like a tool or handed the conversation. The engine runs it.

import { readFileSync } from 'node:fs'
import type { AgentDefinition, ModelSettings } from '../domain/agent/agent.ts'
import type {
  AgentToolSettings,
  FunctionToolSettings,
  JsonSchema,
  ToolSettings,
} from '../domain/agent/tool-settings.ts'
import { ServerError } from '../domain/errors.ts'
import { textHash } from './function/module-source.ts'
import type { AgentTool, Tool } from './tool.ts'
import { boundTool } from './tool-binding.ts'

/** What a tool may have to know about an agent. */
export type KnownAgent = Pick<
  AgentDefinition,
  'name' | 'description' | 'instructions' | 'model' | 'approval' | 'responseFormat' | 'tools'
> & {
  /** Tools that the embedding program gave this agent in code. */
  given?: readonly Pick<Tool, 'name' | 'binding'>[]
}

/** The source of a function tool's module, as plain data. */
type SourceOf = (tool: FunctionToolSettings) => Promise<unknown>

const question: JsonSchema = {
  type: 'object',
  properties: {
    message: {
      type: 'string',
      minLength: 1,
      description: 'What the agent is asked, with all that it needs to know: it does not see this conversation.',
    },
  },
  required: ['message'],
  additionalProperties: false,
}

const handover: JsonSchema = {
  type: 'object',
  properties: { reason: { type: 'string', description: 'Why the other agent goes on from here.' } },
  additionalProperties: false,
}

/** Throws `config_invalid` when `agents` has no agent of that name. */
export async function createAgentTool(
  settings: AgentToolSettings,
  agents: readonly KnownAgent[],
  sourceOf: SourceOf,
): Promise<AgentTool> {
  const { name, agent, handoff } = settings
  const known = agents.find((one) => one.name === agent)
  if (known === undefined) {
    throw new ServerError('config_invalid', `Tool ${name}: there is no agent ${agent}. Load its file beside this one.`)
  }
  const said = settings.description ?? known.description
  const does = handoff ? `Hands the conversation to the agent ${agent}.` : `Asks the agent ${agent}.`
  const description = said.trim() === '' ? does : settings.description === null ? `${does} ${said}` : said
  const parameters = handoff ? handover : question
  return {
    location: 'agent',
    ...boundTool(
      'agent',
      { ...settings, description, parameters, returns: null },
      { handoff, agent: await agentBehaviour(agent, agents, sourceOf) },
    ),
    action: () => (handoff ? `hands the conversation to the agent ${agent}` : `asks the agent ${agent}`),
    agent,
    handoff,
  }
}

/**
 * Everything that decides what an agent does: instructions, model, rules, tools, and the agents that it calls in turn. What its
 * MCP servers offer is not known yet. Calls to them are checked when they are made.
 */
async function agentBehaviour(
  name: string,
  agents: readonly KnownAgent[],
  sourceOf: SourceOf,
  callers: readonly string[] = [],
): Promise<unknown> {
  const agent = agents.find((one) => one.name === name)
  if (agent === undefined || callers.includes(name)) return { name }
  const behaviourOf = (other: string) => agentBehaviour(other, agents, sourceOf, [...callers, name])
  const { instructions, model, approval, responseFormat, tools, given = [] } = agent
  return {
    name,
    instructions,
    approval,
    responseFormat,
    model: model === null ? null : modelBehaviour(model),
    tools: await Promise.all(tools.map((tool) => toolBehaviour(tool, sourceOf, behaviourOf))),
    ...(given.length === 0 ? {} : { given: given.map(({ name, binding }) => ({ name, binding })) }),
  }
}

/** Leaves out the key: a new one does not change what the model does. */
function modelBehaviour({ apiKey: _key, fallback, ...model }: ModelSettings): unknown {
  return { ...model, ...(fallback === undefined ? {} : { fallback: modelBehaviour(fallback) }) }
}

async function toolBehaviour(
  tool: ToolSettings,
  sourceOf: SourceOf,
  behaviourOf: (agent: string) => Promise<unknown>,
): Promise<unknown> {
  switch (tool.type) {
    case 'function':
      return { ...tool, source: await sourceOf(tool) }
    case 'agent':
      return { ...tool, agent: await behaviourOf(tool.agent) }
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

/** Null for a file that cannot be read. The agent that needs the file reports that. */
function documentHash(file: string): string | null {
  try {
    return textHash(readFileSync(file))
  } catch {
    return null
  }
}
