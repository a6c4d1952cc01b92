import type { PredictState, ToolRules } from '../../domain/agent/tool-settings.ts'
import type { RunInput } from '../../domain/session/run.ts'
import type { ModelTool } from '../../models/model.ts'
import type { AgentTool, Tool, ToolServer } from '../../tools/tool.ts'
import type { Lane } from '../run/run-scope.ts'

/** Gives the conversation back to the agent that handed it on. */
const HAND_BACK = 'hand_back'

/** For tools that change nothing. */
export const harmless: ToolRules = {
  effect: 'read',
  risk: 'low',
  timeoutMs: 30_000,
  retries: 0,
  approval: { ask: 'never' },
  predictState: [],
}

const takesAnswers = ({ clientAnswers = 'none' }: RunInput): boolean => clientAnswers !== 'none'

/** The tools that the caller brings to this conversation. Sub-agents get none. */
export const broughtTools = (input: RunInput, lane: string | null): RunInput['clientTools'] =>
  lane === null && takesAnswers(input) ? input.clientTools : []

/** No digest: nobody knows what such a tool does. */
const BROUGHT = 'client'

export const withoutBrought = (sent: readonly ModelTool[], tools: ReadonlyMap<string, Tool>): ModelTool[] =>
  sent.filter(({ name }) => tools.get(name)?.binding !== BROUGHT)

/** The agent's own tools, those that the caller brings, and the way back after a handoff. On equal names the agent's own tool wins. */
export async function offeredTools({ scope, agent, id }: Lane): Promise<ReadonlyMap<string, Tool>> {
  const { input } = scope.run
  const own = await ownTools({ scope, agent, id })
  const canAnswer = takesAnswers(input)
  const isHanded = id === null && agent !== scope.root
  const brought = broughtTools(input, id)
  const knowsOwn = canAnswer && input.onlyBroughtTools !== true
  const hides = !knowsOwn && own.values().some((tool) => tool.location === 'client')
  if (!hides && !isHanded && brought.length === 0) return own

  const offered = new Map([...own].filter(([, tool]) => knowsOwn || tool.location !== 'client'))
  for (const { name, description, parameters } of brought) {
    if (offered.has(name)) continue
    // The server does not know what the tool does.
    const unknown = { ...harmless, location: 'client', returns: null, binding: BROUGHT } as const
    offered.set(name, { ...unknown, name, description, parameters })
  }
  if (isHanded && !offered.has(HAND_BACK)) offered.set(HAND_BACK, handBack(scope.root.definition.name))
  return offered
}

const isForApps = (tool: Tool): boolean => tool.location === 'server' && tool.app?.forModel === false

/** Without the tools that only the apps of an MCP server may call. */
function forModel(own: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> {
  return own.values().some(isForApps) ? new Map([...own].filter(([, tool]) => !isForApps(tool))) : own
}

/** Memory is the session's own agent's: neither a sub-agent nor one that took over the conversation has it. */
async function ownTools({
  scope,
  agent,
  id,
}: Pick<Lane, 'scope' | 'agent' | 'id'>): Promise<ReadonlyMap<string, Tool>> {
  const own = forModel(await agent.toolbox.tools(scope.signal, scope.run.owner))
  if (agent.definition.memory !== true || agent !== scope.root || id !== null) return own
  const { withMemoryTools } = await import('../memories/memory-tools.ts')
  return withMemoryTools(scope, own)
}

const handBack = (agent: string): AgentTool => ({
  ...harmless,
  location: 'agent',
  name: HAND_BACK,
  description: `Gives the conversation back to ${agent}. Use it when the user wants something that is not your task.`,
  parameters: { type: 'object', properties: { reason: { type: 'string' } }, additionalProperties: false },
  returns: null,
  binding: HAND_BACK,
  agent,
  handoff: true,
})

const MOST_NAMES = 20

/** For the model, so that it does not call a missing tool and does not deny that it has it. */
export const missingToolNotes = ({ agent: { toolbox }, scope }: Lane): string[] =>
  toolbox.servers(scope.run.owner).flatMap((server) => {
    const { name, trouble, tools } = server
    if (trouble === null) return []
    const shown = tools.slice(0, MOST_NAMES).join(', ')
    const which = shown === '' ? '' : ` (${shown}${tools.length > MOST_NAMES ? ', …' : ''})`
    return [
      `[Note from the server: the MCP server ${JSON.stringify(name)} ${whyAway(server)}, so its tools${which} are missing. ` +
        'Do without them, and say so where they are needed.]',
    ]
  })

const whyAway = ({ needsSignIn }: ToolServer): string =>
  needsSignIn === true ? 'needs a person to sign in to it' : 'cannot be reached now'

/** Explains to the model why the tool that it called is not there. */
export function whyMissing(
  { agent: { toolbox }, scope }: Lane,
  tool: string,
  tools: ReadonlyMap<string, Tool>,
): string {
  const away = toolbox.servers(scope.run.owner).filter(({ trouble }) => trouble !== null)
  const its = away.find((server) => server.tools.includes(tool))
  if (its !== undefined) {
    return (
      `The MCP server ${JSON.stringify(its.name)} ${whyAway(its)}, so its tool ${tool} was not run. ` +
      'Try again later, or go on without it.'
    )
  }
  const hint = away
    .map((server) => ` The MCP server ${JSON.stringify(server.name)} ${whyAway(server)}, and it may have this tool.`)
    .join('')
  return `There is no tool ${tool}. Tools: ${[...tools.keys()].join(', ') || 'none'}.${hint}`
}

/** What the model is told about the tools, always in the same order, whoever brought them and whichever server came first. */
export const modelTools = (tools: Iterable<ModelTool>): ModelTool[] =>
  [...tools]
    .map(({ name, description, parameters }) => ({ name, description, parameters }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** In the form that AG-UI clients know. */
export function predictedState(tools: ReadonlyMap<string, Tool>) {
  return [...tools.values()].flatMap((tool) =>
    tool.predictState.map(({ stateKey, toolArgument }: PredictState) => ({
      state_key: stateKey,
      tool: tool.name,
      tool_argument: toolArgument ?? undefined,
    })),
  )
}
