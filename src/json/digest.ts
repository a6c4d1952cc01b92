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

/** Stands for the rules and the tool: any difference in them gives another version. */
export const policyVersionOf = (rules: unknown, tool: unknown): string =>
  `${sha256(canonicalJson(['rules', rules]))}-${sha256(canonicalJson(['tool', tool]))}`

/** Whether two versions are of the same tool, whatever the rules. */
export const isSameTool = (one: string, other: string): boolean => one.split('-').at(-1) === other.split('-').at(-1)

/** What an approval of a tool call is bound to. Any change of the tool, its arguments or the rules voids it. */
export const callDigest = (call: { callId: string; tool: string; arguments: unknown; policyVersion: string }): string =>
  sha256(canonicalJson(['tool_call', call.callId, call.tool, call.arguments, call.policyVersion]))

/** What the answer to a question of a tool is bound to. */
export const questionDigest = (asked: {
  callId: string
  tool: string
  question: { index: number; message: string; schema: unknown }
  policyVersion: string
}): string => {
  const { index, message, schema } = asked.question
  return sha256(canonicalJson(['question', asked.callId, asked.tool, index, message, schema, asked.policyVersion]))
}
