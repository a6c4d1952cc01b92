import type { ToolType } from '../domain/agent/tool-settings.ts'
import { canonicalJson, sha256 } from '../json/digest.ts'
import type { BoundTool, ToolDescription } from './tool.ts'

/**
 * A digest of what a tool does, as it is loaded now. `made` is plain data with everything that decides what a call does. It holds
 * the names of secrets instead of their values, so that a new key does not void an approval.
 */
export const toolBinding = (kind: ToolType | 'code', made: unknown): string => sha256(canonicalJson([kind, made]))

/** The part that every kind of tool has, taken from settings that have more. */
export function boundTool(kind: ToolType, settings: ToolDescription, made: unknown): BoundTool {
  const { name, description, parameters, returns, effect, risk, timeoutMs, retries, approval, predictState } = settings
  const rules = { effect, risk, timeoutMs, retries, approval, predictState }
  return { name, description, parameters, returns, ...rules, binding: toolBinding(kind, made) }
}
