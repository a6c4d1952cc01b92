// Finds conditions that change nothing. `when` adds to the other rules, so it has no effect if those already ask about every call.
// The author probably wants the other calls to run, and must say so with `otherwise: run`.

import type { ApprovalRule } from '../../domain/approval-rule.ts'
import { isAtLeast, type Risk, type ToolSettings } from '../../domain/tool-settings.ts'
import type { Path } from '../source/json-schema-node.ts'
import type { AgentYaml } from './agent-yaml.ts'

export interface IneffectiveConditions {
  /** Path of the key with the conditions. */
  at: Path
  message: string
}

const ADVICE = 'Write otherwise: run next to when to let the other calls run, or remove when.'

export function ineffectiveConditions(yaml: AgentYaml, tools: readonly ToolSettings[]): IneffectiveConditions[] {
  const agentRule = yaml.approval.default
  const found: IneffectiveConditions[] = []
  const look = (name: string, rule: ApprovalRule | undefined, risk: Risk, isGuess: boolean, at: Path) => {
    if (rule?.ask !== 'when' || rule.otherwise === 'run') return
    const reason = reasonToAsk(agentRule, name, risk)
    if (reason === null) return
    const unless = isGuess ? ' unless it only reads' : ''
    const message = `${reason}${unless}, so these conditions change nothing. ${ADVICE}`
    found.push({ at: [...at, 'approval'], message })
  }
  for (const [index, tool] of yaml.tools.entries()) {
    const settings = tools[index]
    if (settings === undefined || tool.type === 'client') continue
    const isGuess = mayRead(settings)
    look(tool.name, tool.approval, settings.risk, isGuess, ['tools', index])
    if (tool.type !== 'mcp' || settings.type !== 'mcp') continue
    for (const [name, rules] of Object.entries(tool.tools)) {
      const { risk } = settings.tools[name] ?? {}
      const at = ['tools', index, 'tools', name]
      look(name, rules.approval, risk ?? settings.risk, isGuess && risk === undefined, at)
    }
  }
  if (agentRule.ask === 'when' && agentRule.otherwise === 'default') {
    const names = tools.filter((tool) => tool.approval === null && isAtLeast(tool.risk, 'high')).map(({ name }) => name)
    if (names.length > 0) {
      const reason = `every call of ${names.join(', ')} needs approval because of its risk`
      found.push({ at: ['approval', 'default'], message: `${reason}, so these conditions change nothing. ${ADVICE}` })
    }
  }
  return found
}

/** Why the agent's default rule asks about the other calls of a tool anyway; null if it does not. */
function reasonToAsk(agentRule: ApprovalRule, tool: string, risk: Risk): string | null {
  const byRisk = `every call of ${tool} needs approval because its risk is ${risk}`
  switch (agentRule.ask) {
    case 'never':
      return null
    case 'always':
      return `every call of ${tool} needs approval because approval.default is always`
    case 'policy':
      return `the policy decides about the calls of ${tool}`
    case 'risk':
      return isAtLeast(risk, agentRule.atLeast) ? byRisk : null
    case 'when':
      return agentRule.otherwise === 'default' && isAtLeast(risk, 'high') ? byRisk : null
  }
}

/** Whether a server or an OpenAPI document may still say that a tool only reads. */
function mayRead(tool: ToolSettings): boolean {
  if (tool.type === 'mcp') return tool.trustHints && tool.written.length === 0
  return tool.type === 'openapi' && tool.written.length === 0
}
