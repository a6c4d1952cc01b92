// Thinking must go back to Anthropic block by block, unchanged. Our port has one text and one signature per answer. So for a single
// block the signature is Anthropic's own, and otherwise it is the list of blocks as JSON.

import { isRecord } from '../../domain/is-record.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'
import { proofOf, signed } from '../wire/signature.ts'

const MAKER = 'anthropic'

export type ThinkingBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

export function signatureOf(blocks: readonly ThinkingBlock[]): string {
  const [first] = blocks
  const single = blocks.length === 1 && first?.type === 'thinking' ? first : null
  return signed(MAKER, single === null ? JSON.stringify(blocks) : single.signature)
}

/** The blocks to send back: none when there is no signature, or when another provider made it. */
export function thinkingBlocks(reasoning: { text: string; signature?: string | undefined } | undefined): JsonObject[] {
  const proof = proofOf(MAKER, reasoning?.signature)
  if (reasoning === undefined || proof === undefined) return []
  // Anthropic's signatures are base64, so they never begin with a bracket.
  if (!proof.startsWith('[')) return [{ type: 'thinking', thinking: reasoning.text, signature: proof }]
  const blocks = parseObject(`{"blocks":${proof}}`)?.blocks
  return Array.isArray(blocks) ? blocks.filter(isRecord) : []
}
