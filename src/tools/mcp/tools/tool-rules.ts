import type { McpServerSettings, ToolRules } from '../../../domain/tool-settings.ts'

/** What the file says about the tool comes first, then the tool's hints if they are trusted, then the server's rules. */
export function toolRules(
  settings: McpServerSettings,
  tool: { name: string; readOnly: boolean; idempotent: boolean },
): ToolRules {
  // The server chooses the name, which may be "constructor". Only what the file says counts.
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
