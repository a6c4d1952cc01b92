import type { NetworkInterfaceInfo } from 'node:os'
import { type AgentDefinition, modelName, UNCONFINED } from '../../../domain/agent/agent.ts'
import { isAtLeast, type ToolRules, type ToolSettings } from '../../../domain/agent/tool-settings.ts'
import { wrapText } from '../../../domain/text/wrap-text.ts'
import { doors } from '../../../doors.ts'
import { toolCount } from '../../check-agents.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'

export interface BannerFacts {
  version: string
  url: string
  /** Where people open the console; with a code that signs a browser in only at a terminal. Null: there is none. */
  console: string | null
  agents: readonly AgentDefinition[]
  /** Names of hosted agents that no sandbox confines. */
  unconfined: readonly string[]
  protocols: readonly string[]
  /** Null: everything is in memory. */
  keptIn: string | null
  /** The operator's token, if this start has created it. The banner shows it once, and only at a terminal. */
  token: string | null
  tokenRequired: boolean
  /** Where the operator's token is: in a setting, in `token`, stored as a hash, or nowhere. */
  operator: 'set' | 'made' | 'kept' | 'none'
  /** The flag that leads a command to this server, with a space before it. Empty: it finds the server without. */
  dataDirFlag: string
  /** Enter prints a new link to the console. */
  hasEnter: boolean
  readyMs: number
}

/** What a person needs to talk to a new server: the page to open, the docs, the doors. */
export function banner(facts: BannerFacts, io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const width = io.stdout.isTTY === true ? io.stdout.columns || 80 : Number.POSITIVE_INFINITY
  const { url } = facts
  const linked = (text: string) => {
    const address = facts.console !== null && text.includes(facts.console) ? facts.console : url
    return text.replace(address, style.cyan(address))
  }
  const prose = (text: string, indent = 2) => wrapText(`  ${text}`, width, indent)
  // In a narrow terminal, the value is below its label.
  const row = ([label, value]: Row) => {
    const name = label.padEnd(LABEL)
    if (width < NARROW) {
      return [...(label === '' ? [] : [`  ${style.dim(label)}`]), linked(wrapText(`    ${value}`, width, 4))].join('\n')
    }
    return linked(wrapText(`  ${name}  ${value}`, width, LABEL + 4).replace(name, style.dim(name)))
  }

  const lines = [
    `${style.bold(`Quarterdeck ${facts.version}`)} is ready ${style.dim(`(${(facts.readyMs / 1000).toFixed(1)} s)`)}`,
    '',
    ...(facts.console === null ? [] : [row(['Open', facts.console])]),
    row(['API docs', `${url}/docs`]),
    '',
    ...agentRows(facts).map(row),
    ...doorRows(facts, io.program()).map(row),
    row(['Data', facts.keptIn ?? 'in memory: lost when the server stops']),
    '',
  ]
  if (facts.token !== null) lines.push(...tokenLines(facts.token, facts, io.program()).map((line) => prose(line)), '')
  if (facts.agents.some((agent) => agent.model?.provider === 'demo')) {
    lines.push(style.yellow(prose('The built-in demo model answers. It is not a language model.')))
    lines.push(
      prose('For a real one, set OPENAI_API_KEY and `model: { provider: openai, name: gpt-5-mini }`, for example.'),
      '',
    )
  }
  for (const name of facts.unconfined) {
    lines.push(style.yellow(prose(`${name} is ${UNCONFINED}. Its program can write wherever this user can.`)), '')
  }
  lines.push(
    `  ${style.dim('Talk to it:')}  ${wrapText(`${io.program()} chat ${url}`, width, 4)}`,
    ...(facts.hasEnter ? [`  ${style.dim('Sign in:')}     Enter prints a new link`] : []),
    `  ${style.dim('Stop it:')}     Ctrl-C`,
    '',
    '',
  )
  return lines.join('\n')
}

type Row = [label: string, value: string]

/** In columns. From here on, addresses fit beside their labels. */
const NARROW = 60
const LABEL = 10

/** Without sub-agents: no door leads to them. */
function agentRows(facts: BannerFacts): Row[] {
  const agents = facts.agents.filter(({ internal }) => !internal)
  return agents.map((agent, index) => {
    const role = agents.length > 1 && agent.default ? ' (default)' : ''
    const tools = agent.tools.length === 0 ? '' : `, ${toolCount(agent.tools)}`
    return [index === 0 ? 'Agent' : '', `${agent.name}${role}: ${workerOf(agent)}${tools}`]
  })
}

/** The model, or the coding agent's program and where it works. */
const workerOf = ({ model, host }: AgentDefinition): string =>
  host === null ? modelName(model) : `${host.name} in ${host.workspace}`

function doorRows(facts: BannerFacts, program: string): Row[] {
  const { url, console, protocols, agents, operator, dataDirFlag } = facts
  const place = { url, program, dataDirFlag, hasOperator: operator !== 'none' }
  const rows = doors
    .filter(({ name }) => protocols.includes(name))
    .flatMap(({ title, banner }) =>
      banner(place).map(
        (line, index): Row => (typeof line === 'string' ? [index === 0 ? title : '', line] : [...line]),
      ),
    )
  rows.push(['Sessions', `${url}/sessions/{id}/messages`])
  // In the console one decides without a token.
  if (console === null && agents.some(mayAsk)) {
    const token = whereToken(operator, `${program} tokens create --role operator${dataDirFlag}`)
    rows.push(['Approvals', `${url}/approvals`], ['', `to decide, the operator’s token: ${token}`])
  }
  return [...rows, ['Health', `${url}/health`]]
}

function whereToken(operator: BannerFacts['operator'], create: string): string {
  switch (operator) {
    case 'set':
      return 'the one in auth.operator_token'
    case 'made':
      return 'shown below, only this time'
    case 'kept':
      return `the one shown when it was created. If it is lost, stop the server and run ${create}`
    case 'none':
      return `there is none yet. Stop the server and run ${create}`
  }
}

function tokenLines(token: string, { tokenRequired, dataDirFlag }: BannerFacts, program: string): string[] {
  const others = `for those who only talk: ${program} tokens create --role user${dataDirFlag}`
  return [
    'The operator’s token. You decide with it outside the console, and it is not shown again:',
    `  ${token}`,
    ...(tokenRequired ? [`Talking needs a token too: this one, or ${others}`] : []),
  ]
}

/** Whether a person may have to approve a call of one of the agent's tools. True if only the call itself can tell. */
export function mayAsk({ tools, approval, host }: AgentDefinition): boolean {
  return host !== null || tools.some((tool) => rulesIn(tool).some((rules) => asks(rules, approval.default)))
}

function asks({ approval, risk }: Pick<ToolRules, 'approval' | 'risk'>, fallback: NonNullable<ToolRules['approval']>) {
  const rule = approval ?? fallback
  if (rule.ask === 'never') return false
  return rule.ask !== 'risk' || isAtLeast(risk, rule.atLeast)
}

/** A tool of an MCP server may have its own rules; the server's rules apply to all others. */
const rulesIn = (tool: ToolSettings): Pick<ToolRules, 'approval' | 'risk'>[] =>
  tool.type === 'mcp' ? [tool, ...Object.values(tool.tools).map((rules) => ({ ...tool, ...rules }))] : [tool]

/** Replaces `0.0.0.0` and `::` by an address that other machines can open. */
export function shownUrl(
  url: string,
  interfaces: Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>,
): string {
  const shown = new URL(url)
  if (shown.hostname !== '0.0.0.0' && shown.hostname !== '[::]') return url
  const addresses = Object.values(interfaces).flatMap((list) => list ?? [])
  shown.hostname = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
  return shown.origin
}
