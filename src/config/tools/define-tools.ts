// Turns the tools of a checked agent.yaml into ToolSettings: paths resolved, defaults filled in, times in milliseconds.

import { resolve } from 'node:path'
import type {
  AgentToolSettings,
  Effect,
  HttpToolSettings,
  McpAuthSettings,
  McpServerSettings,
  OpenApiToolSettings,
  Risk,
  ToolRules,
  ToolSettings,
} from '../../domain/agent/tool-settings.ts'
import { present } from '../../domain/present.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { Path } from '../source/json-schema-node.ts'
import { noParameters } from '../source/json-schema-yaml.ts'
import { existingFile, existingFolder, type LoadContext, readTextOrFile } from '../source/load-context.ts'
import { boundConnection, boundRequest } from './bound-settings.ts'
import { defineKnowledgeTool } from './define-knowledge-tool.ts'
import type { RulesYaml } from './tool-keys.ts'
import type { ToolYaml } from './tool-yaml.ts'

export const defineTools = (tools: readonly ToolYaml[], context: LoadContext): ToolSettings[] =>
  tools.map((tool, index) => defineTool(tool, ['tools', index], context))

function defineTool(tool: ToolYaml, at: Path, context: LoadContext): ToolSettings {
  const { name } = tool
  switch (tool.type) {
    case 'function':
      return {
        type: 'function',
        name,
        description: tool.description ?? null,
        parameters: tool.parameters ?? null,
        returns: tool.returns ?? null,
        file: existingFile(tool.file, [...at, 'file'], context),
        export: tool.export ?? name,
        ...rulesOf(tool, context),
      }
    case 'mcp':
      return defineMcpServer(tool, at, context)
    case 'client':
      return {
        type: 'client',
        ...describedBy(tool, tool.description),
        ...rulesOf(tool, context),
        // The client asks its own user.
        approval: { ask: 'never' },
      }
    case 'http':
      return tool.openapi === undefined
        ? defineHttpTool(tool, at, context)
        : defineOpenApi(tool, tool.openapi, at, context)
    case 'agent':
      return defineAgentTool(tool, context)
    case 'prompt':
      return {
        type: 'prompt',
        ...describedBy(tool, tool.description),
        template: readTextOrFile(tool.template, [...at, 'template'], context),
        // A model call changes nothing.
        ...rulesOf(tool, context, { effect: 'read' }),
      }
    case 'knowledge':
      return defineKnowledgeTool(tool, at, context)
    default:
      return unreachable(tool)
  }
}

/** What the model reads of a tool. */
const describedBy = ({ name, parameters, returns }: KindOf<'client' | 'prompt' | 'http'>, description: string) => ({
  name,
  description,
  parameters: parameters ?? noParameters,
  returns: returns ?? null,
})

type KindOf<T extends ToolYaml['type']> = Extract<ToolYaml, { type: T }>

interface KindRules {
  effect?: Effect
  risk?: Risk
}

const riskOf = (effect: Effect): Risk => (effect === 'read' ? 'low' : 'high')

function rulesOf(rules: RulesYaml, { defaults }: LoadContext, kind: KindRules = {}): ToolRules {
  const effect = rules.effect ?? kind.effect ?? 'once'
  return {
    effect,
    risk: rules.risk ?? kind.risk ?? riskOf(effect),
    timeoutMs: rules.timeout === undefined ? defaults.toolTimeoutMs : rules.timeout * 1000,
    retries: rules.retries ?? 0,
    approval: rules.approval ?? null,
    predictState: predictStateOf(rules),
  }
}

const writtenIn = (rules: RulesYaml): McpServerSettings['written'] =>
  (['effect', 'risk'] as const).filter((rule) => rules[rule] !== undefined)

const predictStateOf = (rules: RulesYaml): ToolRules['predictState'] =>
  (rules.predict_state ?? []).map((one) => ({ stateKey: one.state_key, toolArgument: one.tool_argument ?? null }))

function defineMcpServer(tool: KindOf<'mcp'>, at: Path, context: LoadContext): McpServerSettings {
  const { directory } = context
  const connection: McpServerSettings['connection'] =
    tool.url === undefined
      ? {
          kind: 'stdio',
          command: program(tool.command ?? '', [...at, 'command'], context),
          args: tool.args ?? [],
          env: tool.env ?? {},
          directory: tool.cwd === undefined ? directory : existingFolder(tool.cwd, [...at, 'cwd'], context),
          ...(tool.cwd === undefined ? {} : { hasCwd: true }),
        }
      : { kind: 'http', url: tool.url, headers: tool.headers ?? {}, ...authOf(tool.auth) }
  return {
    type: 'mcp',
    name: tool.name,
    connection,
    bound: boundConnection(at, connection, context),
    allow: tool.allow ?? null,
    deny: tool.deny ?? [],
    prefix: tool.prefix ?? '',
    trustHints: tool.trust_hints,
    resources: tool.resources,
    prompts: tool.prompts,
    written: writtenIn(tool),
    tools: Object.fromEntries(Object.entries(tool.tools).map(([name, rules]) => [name, singleRules(rules, tool)])),
    ...rulesOf(tool, context),
  }
}

const authOf = (auth: KindOf<'mcp'>['auth']): { auth?: McpAuthSettings } =>
  auth === undefined
    ? {}
    : {
        auth: {
          per: auth.per,
          clientId: auth.client_id ?? null,
          clientSecret: auth.client_secret ?? null,
          scope: auth.scope ?? null,
          allowPrivate: auth.allow_private,
        },
      }

/** A plain name is searched in PATH at the start; a path is relative to the agent file. */
const program = (command: string, at: Path, context: LoadContext): string =>
  /^\.{1,2}[\\/]/.test(command) ? existingFile(command, at, context) : command

/** Only what differs from the rules of the server. If the effect is set, risk and retries follow from it here too. */
function singleRules(rules: RulesYaml, server: RulesYaml): Partial<ToolRules> {
  const { effect } = rules
  const risk = rules.risk ?? (effect === undefined || server.risk !== undefined ? undefined : riskOf(effect))
  const retries = rules.retries ?? (effect === 'once' ? 0 : undefined)
  return present({
    effect,
    risk,
    timeoutMs: rules.timeout === undefined ? undefined : rules.timeout * 1000,
    retries,
    approval: rules.approval,
    predictState: rules.predict_state && predictStateOf(rules),
  })
}

function defineHttpTool(tool: KindOf<'http'>, at: Path, context: LoadContext): HttpToolSettings {
  return {
    type: 'http',
    ...describedBy(tool, tool.description ?? ''),
    method: tool.method ?? 'GET',
    url: tool.url ?? '',
    headers: tool.headers ?? {},
    body: tool.body ?? null,
    allowPrivate: tool.allow_private,
    bound: boundRequest(at, context),
    ...rulesOf(tool, context),
  }
}

function defineOpenApi(tool: KindOf<'http'>, file: string, at: Path, context: LoadContext): OpenApiToolSettings {
  return {
    type: 'openapi',
    name: tool.name,
    file: existingFile(file, [...at, 'openapi'], context),
    baseUrl: tool.base_url ?? null,
    headers: tool.headers ?? {},
    allow: tool.allow ?? null,
    deny: tool.deny ?? [],
    allowPrivate: tool.allow_private,
    bound: boundRequest(at, context),
    written: writtenIn(tool),
    ...rulesOf(tool, context),
  }
}

/** `agent` is the absolute path of the file, until `load-agents.ts` replaces it with the agent's name. */
function defineAgentTool(tool: KindOf<'agent'>, context: LoadContext): AgentToolSettings {
  return {
    type: 'agent',
    name: tool.name,
    description: tool.description ?? null,
    agent: resolve(context.directory, tool.agent),
    handoff: tool.handoff,
    // The tools of the other agent have their own risk, so the call itself has none.
    ...rulesOf(tool, context, { risk: 'low' }),
  }
}
