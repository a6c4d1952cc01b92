import { hash } from 'node:crypto'

/** JSON with sorted keys: the same value always gives the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(',')}}`
}

export const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** What an approval of a tool call is bound to. Any change of the tool, its arguments or the rules voids it. */
export const callDigest = (call: { callId: string; tool: string; arguments: unknown; policyVersion: string }): string =>
  sha256(canonicalJson(['tool_call', call.callId, call.tool, call.arguments, call.policyVersion]))
