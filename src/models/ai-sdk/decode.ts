// Stream parts of the AI SDK's provider interface (versions 2, 3 and 4) → parts.

import { isRecord } from '../../domain/is-record.ts'
import { dropped, type ModelTarget, modelFailure, refusal } from '../failure.ts'
import { type FinishReason, type ModelPart, type ModelUsage, modelUsage } from '../model.ts'
import { countAt, type JsonObject, textAt } from '../wire/json.ts'
import { providerFailure } from './failure.ts'

interface OpenCall {
  /** The deltas are not JSON, so they are not passed on. The complete call brings the arguments as JSON. */
  isText: boolean
  hasArguments: boolean
}

export function createPartDecoder(
  target: ModelTarget,
  signatureOf: (metadata: JsonObject) => string,
  now: () => number,
) {
  const open = new Map<string, OpenCall>()
  let called = false
  let finished = false

  const signature = (part: JsonObject): { signature?: string } =>
    isRecord(part.providerMetadata) ? { signature: signatureOf(part.providerMetadata) } : {}

  const start = (id: string, name: string, part: JsonObject, into: ModelPart[]): OpenCall => {
    const call = { isText: part.inputEncoding === 'text', hasArguments: false }
    called = true
    open.set(id, call)
    into.push({ type: 'tool_call_start', id, name, ...signature(part) })
    return call
  }

  const addArguments = (id: string, call: OpenCall, text: string, into: ModelPart[]) => {
    if (text === '') return
    call.hasArguments = true
    into.push({ type: 'tool_call_args', id, delta: text })
  }

  /** The complete call. It comes after the deltas, or alone. */
  const takeCall = (part: JsonObject, into: ModelPart[]) => {
    const id = textAt(part, 'toolCallId')
    const call = open.get(id) ?? start(id, textAt(part, 'toolName'), part, into)
    if (!call.hasArguments) addArguments(id, call, textAt(part, 'input'), into)
    endCall(id, call, into)
  }

  const endCall = (id: string, call: OpenCall, into: ModelPart[]) => {
    open.delete(id)
    addArguments(id, call, call.hasArguments ? '' : '{}', into)
    into.push({ type: 'tool_call_end', id })
  }

  const finish = (part: JsonObject, into: ModelPart[]) => {
    for (const [id, call] of open) endCall(id, call, into)
    const usage = usageOf(part.usage)
    if (usage !== null) into.push({ type: 'usage', usage })
    into.push({ type: 'finish', reason: reasonOf(part.finishReason) })
    finished = true
  }

  const reasonOf = (said: unknown): FinishReason => {
    switch (typeof said === 'string' ? said : textAt(said, 'unified')) {
      case 'content-filter':
        throw refusal(textAt(said, 'raw'), target)
      case 'error':
        throw modelFailure('model_failed', `The model ${target.model} broke off its answer.`, target, {
          retryable: true,
        })
      case 'interrupted':
      case 'unknown':
        throw dropped(target)
      case 'other':
        // Since version 3 the provider's own reason comes along. Without it the model never said that it had finished.
        if (textAt(said, 'raw') === '') throw dropped(target)
        return called ? 'tool_calls' : 'stop'
      case 'length':
        return 'length'
      default:
        return called ? 'tool_calls' : 'stop'
    }
  }

  return {
    decode(part: unknown, into: ModelPart[]) {
      if (!isRecord(part) || finished) return
      // The provider runs this tool itself.
      if (part.providerExecuted === true) return
      switch (part.type) {
        case 'text-delta':
        case 'reasoning-delta': {
          const delta = textAt(part, 'delta')
          if (delta !== '') into.push({ type: part.type === 'text-delta' ? 'text' : 'reasoning', delta })
          if (part.type === 'reasoning-delta') takeSignature(part, into)
          return
        }
        case 'reasoning-start':
        case 'reasoning-end':
          return takeSignature(part, into)
        case 'tool-input-start':
          start(textAt(part, 'id'), textAt(part, 'toolName'), part, into)
          return
        case 'tool-input-delta': {
          const id = textAt(part, 'id')
          const call = open.get(id)
          if (call !== undefined && !call.isText) addArguments(id, call, textAt(part, 'delta'), into)
          return
        }
        case 'tool-call':
          return takeCall(part, into)
        case 'finish':
          return finish(part, into)
        case 'error':
          throw providerFailure(part.error, target, now())
        default:
          // Files, sources, warnings and raw chunks are not needed.
          return
      }
    },
    /** Throws `model_stream_dropped` when no finish came. */
    end(): void {
      if (!finished) throw dropped(target)
    },
  }

  function takeSignature(part: JsonObject, into: ModelPart[]): void {
    if (isRecord(part.providerMetadata)) {
      into.push({ type: 'reasoning_signature', signature: signatureOf(part.providerMetadata) })
    }
  }
}

/** Version 2 has flat counts; later versions group them by input and output. */
function usageOf(usage: unknown): ModelUsage | null {
  if (!isRecord(usage)) return null
  const { inputTokens: inputs, outputTokens: outputs } = usage
  const input = countAt(usage, 'inputTokens') ?? countAt(inputs, 'total')
  const output = countAt(usage, 'outputTokens') ?? countAt(outputs, 'total')
  if (input === undefined && output === undefined) return null
  return modelUsage({
    inputTokens: input,
    outputTokens: output,
    reasoningTokens: countAt(usage, 'reasoningTokens') ?? countAt(outputs, 'reasoning'),
    cachedInputTokens: countAt(usage, 'cachedInputTokens') ?? countAt(inputs, 'cacheRead'),
    cacheWriteInputTokens: countAt(inputs, 'cacheWrite'),
  })
}
