import type { AgentDefinition } from '../../../domain/agent.ts'
import { isAtLeast, type ToolRules, type ToolSettings } from '../../../domain/tool-settings.ts'

/** Whether a person may be asked about one of the agent's tools. Rather yes where only the call itself can tell. */
export function mayAsk({ tools, approval }: AgentDefinition): boolean {
  return tools.some((tool) => rulesIn(tool).some((rules) => asks(rules, approval.default)))
}

function asks({ approval, risk }: Pick<ToolRules, 'approval' | 'risk'>, fallback: NonNullable<ToolRules['approval']>) {
  const rule = approval ?? fallback
  if (rule.ask === 'never') return false
  return rule.ask !== 'risk' || isAtLeast(risk, rule.atLeast)
}

/** A server's single tools may have rules of their own, which stand beside its own rules for all others. */
const rulesIn = (tool: ToolSettings): Pick<ToolRules, 'approval' | 'risk'>[] =>
  tool.type === 'mcp' ? [tool, ...Object.values(tool.tools).map((rules) => ({ ...tool, ...rules }))] : [tool]
