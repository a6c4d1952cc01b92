import type { AgentDefinition } from '../domain/agent.ts'
import type { MadeTokens } from '../http/tokens/tokens.ts'
import type { Io } from './io.ts'
import { mayAsk } from './may-ask.ts'
import { styleFor } from './style.ts'
import { toolCount } from './tool-count.ts'

export interface BannerFacts {
  version: string
  url: string
  agents: readonly AgentDefinition[]
  protocols: readonly string[]
  /** Null: nothing is kept after the process. */
  dataDir: string | null
  /** Made just now: shown here and never again. Only a person at a terminal is shown any. */
  tokens: MadeTokens | null
  /** Talking needs one. */
  tokenRequired: boolean
  /** Where the operator's token is: given by a setting, among `tokens`, kept as a hash, or nowhere. */
  operator: 'set' | 'made' | 'kept' | 'none'
  readyMs: number
}

/** What a person needs to know to talk to the server that has just come up. */
export function banner(facts: BannerFacts, io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const { url, protocols } = facts
  // No door leads to the others.
  const agents = facts.agents.filter(({ internal }) => !internal)
  const rows: [label: string, value: string][] = []
  for (const [index, agent] of agents.entries()) {
    const role = agents.length > 1 && agent.default ? ' (default)' : ''
    const tools = agent.tools.length === 0 ? '' : `, ${toolCount(agent.tools)}`
    rows.push([index === 0 ? 'Agent' : '', `${agent.name}${role}: ${agent.model.provider}/${agent.model.name}${tools}`])
  }
  if (protocols.includes('ag-ui')) {
    rows.push(['AG-UI', `${url}/`], ['CopilotKit', `${url}/copilotkit  (as runtimeUrl)`])
  }
  rows.push(['Sessions', `${url}/sessions/{id}/messages`])
  if (facts.agents.some(mayAsk)) {
    rows.push(
      ['Approvals', `${url}/approvals`],
      ['', `to decide, the operator’s token: ${operatorToken[facts.operator]}`],
    )
  }
  rows.push(
    ['Health', `${url}/health`],
    ['Protocols', protocols.join(', ') || 'none'],
    ['Data', facts.dataDir ?? 'in memory: gone when the server stops'],
  )
  const lines = [
    `${style.bold(`Quarterdeck ${facts.version}`)} is ready ${style.dim(`(${(facts.readyMs / 1000).toFixed(1)} s)`)}`,
    '',
    ...rows.map(([label, value]) => `  ${style.dim(label.padEnd(10))}  ${value.replace(url, style.cyan(url))}`),
    '',
  ]
  if (facts.tokens !== null) lines.push(...tokenLines(facts.tokens, facts, style.cyan), '')
  if (facts.agents.some((agent) => agent.model.provider === 'demo')) {
    lines.push(`  ${style.yellow('The built-in demo model answers; it is no language model.')}`)
    lines.push('  For a real one set e.g. OPENAI_API_KEY and `model: { provider: openai, name: gpt-5-mini }`.', '')
  }
  lines.push(`  ${style.dim('Talk to it:')}  quarterdeck chat ${url}`, `  ${style.dim('Stop it:')}     Ctrl-C`, '')
  return lines.join('\n')
}

const operatorToken: Record<BannerFacts['operator'], string> = {
  set: 'as set (auth.operator_token)',
  made: 'shown below, this once',
  kept: 'as shown when it was made. If it is lost: quarterdeck tokens --help',
  none: 'there is none yet. Stop the server and run quarterdeck tokens create --role operator',
}

function tokenLines(
  { user, operator }: MadeTokens,
  { url, tokenRequired }: BannerFacts,
  link: (text: string) => string,
): string[] {
  return [
    '  Keep these tokens. They are never shown again (quarterdeck tokens makes others):',
    ...(user === undefined ? [] : [`    to talk     ${user}${tokenRequired ? '' : '  (not needed on this machine)'}`]),
    ...(operator === undefined ? [] : [`    to decide   ${operator}`]),
    ...(user === undefined || !tokenRequired ? [] : [`    the page    ${link(`${url}/#token=${user}`)}`]),
  ]
}
