// Anthropic's message events → parts.

import { isRecord } from '../../domain/is-record.ts'
import { dropped, type ModelTarget, refusal, reportedFailure } from '../failure.ts'
import { type FinishReason, type ModelPart, type ModelUsage, modelUsage } from '../model.ts'
import { countAt, textAt } from '../wire/json.ts'
import type { StreamDecoder } from '../wire/wire-model.ts'
import { signatureOf, type ThinkingBlock } from './thinking.ts'

type OpenBlock =
  | { type: 'text' }
  | { type: 'thinking'; block: ThinkingBlock & { type: 'thinking' } }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; input: unknown; hasArguments: boolean }

export function createAnthropicDecoder(target: ModelTarget, newId: () => string): StreamDecoder {
  const open = new Map<unknown, OpenBlock>()
  /** Ids of the calls so far. Two calls with the same id are still two calls. */
  const ids = new Set<string>()
  const thoughts: ThinkingBlock[] = []
  let usage: ModelUsage | null = null
  let reason: FinishReason | null = null
  let called = false

  const decode = (payload: string, into: ModelPart[]) => {
    if (decoder.finished) return
    const event: unknown = JSON.parse(payload)
    if (!isRecord(event)) return
    switch (event.type) {
      case 'content_block_delta':
        return takeDelta(open.get(event.index), event.delta, into)
      case 'content_block_start':
        return startBlock(event.index, event.content_block, into)
      case 'content_block_stop':
        return endBlock(event.index, into)
      case 'message_start':
        return takeUsage(isRecord(event.message) ? event.message.usage : undefined, into)
      case 'message_delta':
        takeUsage(event.usage, into)
        reason = reasonOf(event.delta, called, target) ?? reason
        return
      case 'message_stop':
        return finish(into)
      case 'error':
        throw reportedFailure(event.error, target)
      default:
        // `ping` and future events: the API's documentation asks clients to ignore them.
        return
    }
  }

  const takeDelta = (block: OpenBlock | undefined, delta: unknown, into: ModelPart[]) => {
    if (block === undefined || !isRecord(delta)) return
    if (delta.type === 'text_delta') {
      const text = textAt(delta, 'text')
      if (text !== '') into.push({ type: 'text', delta: text })
    } else if (block.type === 'tool_use') {
      const text = textAt(delta, 'partial_json')
      if (text !== '') addArguments(block, text, into)
    } else if (block.type === 'thinking') {
      const thought = textAt(delta, 'thinking')
      if (thought !== '') {
        block.block.thinking += thought
        into.push({ type: 'reasoning', delta: thought })
      }
      const proof = textAt(delta, 'signature')
      block.block.signature += proof
      decoder.kept += proof.length
    }
  }

  const startBlock = (index: unknown, content: unknown, into: ModelPart[]) => {
    if (!isRecord(content)) return
    switch (content.type) {
      case 'text': {
        const text = textAt(content, 'text')
        open.set(index, { type: 'text' })
        if (text !== '') into.push({ type: 'text', delta: text })
        return
      }
      case 'thinking': {
        const thinking = textAt(content, 'thinking')
        open.set(index, {
          type: 'thinking',
          block: { type: 'thinking', thinking, signature: textAt(content, 'signature') },
        })
        if (thinking !== '') into.push({ type: 'reasoning', delta: thinking })
        return
      }
      case 'redacted_thinking':
        open.set(index, { type: 'redacted_thinking', data: textAt(content, 'data') })
        return
      case 'tool_use': {
        const sent = textAt(content, 'id')
        const id = sent === '' || ids.has(sent) ? newId() : sent
        ids.add(id)
        called = true
        open.set(index, { type: 'tool_use', id, input: content.input, hasArguments: false })
        into.push({ type: 'tool_call_start', id, name: textAt(content, 'name') })
      }
    }
  }

  const endBlock = (index: unknown, into: ModelPart[]) => {
    const block = open.get(index)
    open.delete(index)
    switch (block?.type) {
      case 'thinking':
        if (block.block.signature === '') return
        thoughts.push(block.block)
        into.push({ type: 'reasoning_signature', signature: signatureOf(thoughts) })
        return
      case 'redacted_thinking':
        thoughts.push({ type: 'redacted_thinking', data: block.data })
        into.push({ type: 'reasoning_signature', signature: signatureOf(thoughts) })
        return
      case 'tool_use':
        // When no deltas came, the arguments came complete with the start, or there are none.
        if (!block.hasArguments) addArguments(block, isRecord(block.input) ? JSON.stringify(block.input) : '{}', into)
        into.push({ type: 'tool_call_end', id: block.id })
    }
  }

  const takeUsage = (said: unknown, into: ModelPart[]) => {
    if (!isRecord(said)) return
    usage = usageOf(said, usage)
    into.push({ type: 'usage', usage })
  }

  const finish = (into: ModelPart[]) => {
    for (const index of [...open.keys()]) endBlock(index, into)
    into.push({ type: 'finish', reason: reason ?? (called ? 'tool_calls' : 'stop') })
    decoder.finished = true
  }

  const decoder = {
    finished: false,
    kept: 0,
    decode,
    end(into: ModelPart[]) {
      if (decoder.finished) return
      if (reason === null) throw dropped(target)
      finish(into)
    },
  }
  return decoder
}

function addArguments(block: OpenBlock & { type: 'tool_use' }, text: string, into: ModelPart[]): void {
  block.hasArguments = true
  into.push({ type: 'tool_call_args', id: block.id, delta: text })
}

/** Null when the delta has no reason. Throws for a refusal. */
function reasonOf(delta: unknown, called: boolean, target: ModelTarget): FinishReason | null {
  const said = textAt(delta, 'stop_reason')
  if (said === '') return null
  if (said === 'refusal') {
    const details: unknown = isRecord(delta) ? delta.stop_details : undefined
    throw refusal(textAt(details, 'explanation'), target)
  }
  if (said === 'max_tokens' || said === 'model_context_window_exceeded') return 'length'
  return called ? 'tool_calls' : 'stop'
}

/** Several events bring counts, each only some of them. Anthropic's input count does not include cached tokens. */
function usageOf(said: unknown, before: ModelUsage | null): ModelUsage {
  const read = countAt(said, 'cache_read_input_tokens') ?? before?.cachedInputTokens
  const written = countAt(said, 'cache_creation_input_tokens') ?? before?.cacheWriteInputTokens
  const fresh = countAt(said, 'input_tokens')
  const thinking = isRecord(said) ? countAt(said.output_tokens_details, 'thinking_tokens') : undefined
  return modelUsage({
    inputTokens: fresh === undefined ? (before?.inputTokens ?? 0) : fresh + (read ?? 0) + (written ?? 0),
    outputTokens: countAt(said, 'output_tokens') ?? before?.outputTokens ?? 0,
    reasoningTokens: thinking ?? before?.reasoningTokens,
    cachedInputTokens: read,
    cacheWriteInputTokens: written,
  })
}
