// Chat completion chunks → parts. Written for the servers that exist, not for the one that is documented: the last chunk may have
// no [DONE] after it, and reasoning, usage and errors have several names.

import { isRecord } from '../../domain/is-record.ts'
import { dropped, type ModelTarget, modelFailure, refusal, reportedFailure } from '../failure.ts'
import { type FinishReason, type ModelPart, type ModelUsage, modelUsage } from '../model.ts'
import { countAt, type JsonObject, textAt } from '../wire/json.ts'
import type { StreamDecoder } from '../wire/wire-model.ts'
import { createTextFrames } from './text-frames.ts'
import { createToolCalls } from './tool-calls.ts'

export function createOpenAiDecoder(target: ModelTarget, newId: () => string): StreamDecoder {
  const calls = createToolCalls(newId)
  let declined = ''
  let reason: FinishReason | null = null
  const frames = createTextFrames()

  const decode = (payload: string, into: ModelPart[]) => {
    if (decoder.finished) return
    const framed = frames.read(payload)
    if (framed !== null) {
      if (framed.delta !== '') into.push(framed)
      return
    }
    const known = into.length
    parse(payload, into)
    decoder.kept = calls.kept() + declined.length
    const part = into.length === known + 1 ? into[known] : undefined
    if (part?.type === 'text' || part?.type === 'reasoning') frames.learn(payload, part.delta)
  }

  const parse = (payload: string, into: ModelPart[]) => {
    if (payload === '[DONE]') return finish(into)
    const chunk: unknown = JSON.parse(payload)
    if (!isRecord(chunk)) return
    if (chunk.error !== undefined && chunk.error !== null) throw reportedFailure(chunk.error, target)
    // vLLM does not wrap its errors in `error`.
    if (chunk.object === 'error') throw reportedFailure(chunk, target)
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
    if (isRecord(choice)) {
      if (isRecord(choice.delta)) takeDelta(choice.delta, into)
      if (typeof choice.finish_reason === 'string') takeReason(choice.finish_reason, choice, into)
    }
    const usage = usageOf(chunk.usage) ?? usageOf(isRecord(chunk.x_groq) ? chunk.x_groq.usage : undefined)
    if (usage !== null) into.push({ type: 'usage', usage })
  }

  const takeDelta = (delta: JsonObject, into: ModelPart[]) => {
    const thought = delta.reasoning_content ?? delta.reasoning
    if (typeof thought === 'string' && thought !== '') into.push({ type: 'reasoning', delta: thought })
    const { content } = delta
    if (typeof content === 'string') {
      if (content !== '') into.push({ type: 'text', delta: content })
    } else if (Array.isArray(content)) {
      takeContentList(content, into)
    }
    if (typeof delta.refusal === 'string') declined += delta.refusal
    // All calls have ended once the reason is known.
    if (reason === null && Array.isArray(delta.tool_calls))
      for (const piece of delta.tool_calls) calls.take(piece, into)
  }

  const failed = (said: string) => {
    const message = `The model server at ${target.host} broke off the answer (${said}).`
    return modelFailure('model_failed', message, target, { retryable: true })
  }

  const takeReason = (said: string, choice: JsonObject, into: ModelPart[]) => {
    if (reason !== null) return
    if (declined !== '') throw refusal(declined, target)
    switch (said) {
      case 'content_filter':
        throw refusal(filteredFor(choice.content_filter_results), target)
      case 'error':
      case 'insufficient_system_resource':
        throw failed(said)
      case 'length':
      case 'model_length':
        reason = 'length'
        break
      default:
        // Some servers say `stop` although they called a tool, or the reverse.
        reason = calls.count() > 0 ? 'tool_calls' : 'stop'
    }
    calls.end(into)
  }

  // Usage comes after the reason, so the reason is held back until the stream is over.
  const finish = (into: ModelPart[]) => {
    if (declined !== '') throw refusal(declined, target)
    if (reason === null) calls.end(into)
    into.push({ type: 'finish', reason: reason ?? (calls.count() > 0 ? 'tool_calls' : 'stop') })
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

/** Mistral: `[{type: 'thinking', thinking: [{type: 'text', text}]}, {type: 'text', text}]`. */
function takeContentList(content: readonly unknown[], into: ModelPart[]): void {
  for (const item of content) {
    if (!isRecord(item)) continue
    if (item.type === 'text') {
      const text = textAt(item, 'text')
      if (text !== '') into.push({ type: 'text', delta: text })
    } else if (item.type === 'thinking') {
      const thinking: readonly unknown[] = Array.isArray(item.thinking) ? item.thinking : [item.thinking]
      for (const thought of thinking) {
        const text = typeof thought === 'string' ? thought : textAt(thought, 'text')
        if (text !== '') into.push({ type: 'reasoning', delta: text })
      }
    }
  }
}

function usageOf(usage: unknown): ModelUsage | null {
  if (!isRecord(usage)) return null
  const input = countAt(usage, 'prompt_tokens')
  const output = countAt(usage, 'completion_tokens')
  if (input === undefined || output === undefined) return null
  const total = countAt(usage, 'total_tokens') ?? 0
  return modelUsage({
    inputTokens: input,
    // xAI does not count reasoning as part of the completion; only the total includes both.
    outputTokens: Math.max(output, total - input),
    reasoningTokens: countAt(usage.completion_tokens_details, 'reasoning_tokens'),
    cachedInputTokens:
      countAt(usage.prompt_tokens_details, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens'),
  })
}

/** Azure names the filters that stopped the answer. */
function filteredFor(results: unknown): string {
  const all = isRecord(results) ? Object.entries(results) : []
  const fired = all.filter(([, result]) => isRecord(result) && result.filtered === true)
  if (fired.length === 0) return 'the content filter stopped the answer.'
  return `the content filter stopped the answer (${fired.map(([name]) => name).join(', ')}).`
}
