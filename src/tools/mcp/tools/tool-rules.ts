import type { McpServerSettings, ToolRules } from '../../../domain/tool-settings.ts'

/** The rules of one tool: the server's as configured, what its hints say where they are believed, then what is configured for it. */
export function toolRules(
  settings: McpServerSettings,
  tool: { name: string; readOnly: boolean; idempotent: boolean },
): ToolRules {
  // The name is the server's and may be "constructor": only what was written in the file counts.
  const own: Partial<ToolRules> = Object.hasOwn(settings.tools, tool.name) ? (settings.tools[tool.name] ?? {}) : {}
  const hinted = settings.trustHints ? hintedEffect(tool) : undefined
  const effect = own.effect ?? hinted ?? settings.effect
  const isDefault = effect === 'read' && !settings.written.includes('risk')
  const risk = own.risk ?? (isDefault ? 'low' : settings.risk)
  return {
    effect,
    risk,
    timeoutMs: own.timeoutMs ?? settings.timeoutMs,
    retries: effect === 'once' ? 0 : (own.retries ?? settings.retries),
    approval: own.approval ?? settings.approval,
    predictState: own.predictState ?? settings.predictState,
  }
}

const hintedEffect = (tool: { readOnly: boolean; idempotent: boolean }): 'read' | 'idempotent' | undefined =>
  tool.readOnly ? 'read' : tool.idempotent ? 'idempotent' : undefined
