import type { ToolDescription } from './tool.ts'

/** What every tool has, out of settings that have more. */
export function toolDescription(settings: ToolDescription): ToolDescription {
  const { name, description, parameters, returns, effect, risk, timeoutMs, retries, approval, predictState } = settings
  return { name, description, parameters, returns, effect, risk, timeoutMs, retries, approval, predictState }
}
