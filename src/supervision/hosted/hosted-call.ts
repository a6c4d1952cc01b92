// A tool call of a hosted agent, put together from all that its program says of it: the permission may come before the update that has the
// diff, and the arguments may come late.

import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { isRecord } from '../../domain/is-record.ts'
import { shownPath } from '../../domain/text/lookalike.ts'
import type { AcpWords } from '../../hosts/host.ts'
import { withHeaders } from '../diffs/propose-change.ts'
import { unifiedDiff } from '../diffs/unified-diff.ts'

export interface HostedCall {
  /** The program's own id. */
  readonly acpId: string
  /** Ours, once the call is shown; null: it is not yet. */
  id: string | null
  /** Epoch ms. */
  shownAt: number
  said: ToolCallUpdate
  /** Of all that was said of it. */
  bytes: number
  /** A call that we make of what the program does, such as changes of files; null: the program calls it one. */
  own: { tool: string; input: Record<string, unknown> } | null
  /** Its result is stored. */
  isOver: boolean
  /** The approval that it was made with; null: none. */
  approvalId: string | null
}

export const newCall = (acpId: string): HostedCall => ({
  acpId,
  id: null,
  shownAt: 0,
  said: { toolCallId: acpId },
  bytes: 0,
  own: null,
  isOver: false,
  approvalId: null,
})

/** What is new replaces what was said before; what is left out stays. Arguments are put together key by key. */
export function mergeCall(call: HostedCall, update: ToolCall | ToolCallUpdate): void {
  const said = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined && value !== null))
  // Some programs tell the arguments piece by piece.
  if (isRecord(call.said.rawInput) && isRecord(said.rawInput))
    said.rawInput = { ...call.said.rawInput, ...said.rawInput }
  call.said = { ...call.said, ...said, toolCallId: call.acpId }
}

export const hasInput = ({ rawInput }: Pick<ToolCallUpdate, 'rawInput'>): boolean =>
  isRecord(rawInput) && Object.keys(rawInput).length > 0

/** Under the name that the host's own tools have, so that policy and risk know it. Never from the title, which may be the model's words. */
export function namedCall(words: AcpWords, { said, own }: HostedCall) {
  if (own !== null) return own
  const { kind, rawInput } = said
  const named = words.toolOf(said)
  const input = isRecord(rawInput) ? rawInput : rawInput === undefined ? {} : { input: rawInput }
  return named ?? { tool: kind ?? 'tool', input }
}

/** What the call came to, as text. */
export function resultText(
  { content = [], locations = [], rawOutput }: ToolCallUpdate,
  outputOf: (terminal: string) => string,
): string {
  const parts = (content ?? []).map((part) => partText(part, outputOf)).filter((text) => text !== '')
  const places = (locations ?? []).map(({ path, line }) => (line == null ? path : `${path}:${line}`))
  if (parts.length === 0 && rawOutput !== undefined && rawOutput !== null) {
    parts.push(typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput, null, 2))
  }
  if (parts.length === 0 && places.length > 0) parts.push(places.join('\n'))
  return parts.join('\n\n')
}

function partText(part: ToolCallContent, outputOf: (terminal: string) => string): string {
  switch (part.type) {
    case 'diff': {
      const kind = part.oldText == null ? 'create' : 'modify'
      return withHeaders(shownPath(part.path), kind, unifiedDiff(part.oldText ?? '', part.newText).hunks)
    }
    case 'terminal':
      return outputOf(part.terminalId)
    case 'content':
      return blockText(part.content)
    default:
      return ''
  }
}

/** A block of content as text: whatever is not text is named. */
export function blockText(block: { type: string; [key: string]: unknown }): string {
  switch (block.type) {
    case 'text':
      return String(block.text)
    case 'resource_link':
      return String(block.uri)
    case 'resource':
      return isRecord(block.resource) && typeof block.resource.text === 'string' ? block.resource.text : '[a resource]'
    default:
      return `[${block.type}${typeof block.mimeType === 'string' ? ` ${block.mimeType}` : ''}]`
  }
}
