import type { AgentDefinition } from '../domain/agent.ts'
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
  /** Shown once, as a link, when it was made just now for a server that others can reach. */
  newToken: string | null
  /** Where the operator's token is kept; null: a setting gives it. */
  operatorTokenFile: string | null
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
    const { operatorTokenFile: file } = facts
    const token = file === null ? 'as set (auth.operator_token)' : `"operator_token" in ${file}`
    rows.push(['Approvals', `${url}/approvals`], ['', `to decide, the operator’s token: ${token}`])
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
  if (facts.newToken !== null) {
    lines.push(`  Open once, this link holds the token: ${style.cyan(`${url}/#token=${facts.newToken}`)}`, '')
  }
  if (facts.agents.some((agent) => agent.model.provider === 'demo')) {
    lines.push(`  ${style.yellow('The built-in demo model answers; it is no language model.')}`)
    lines.push('  For a real one set e.g. OPENAI_API_KEY and `model: { provider: openai, name: gpt-5-mini }`.', '')
  }
  lines.push(`  ${style.dim('Talk to it:')}  quarterdeck chat ${url}`, `  ${style.dim('Stop it:')}     Ctrl-C`, '')
  return lines.join('\n')
}
