// Gemini's generateContent chunks → parts.

import { isRecord } from '../../domain/is-record.ts'
import { dropped, type ModelTarget, modelFailure, refusal, reportedFailure } from '../failure.ts'
import { type ModelPart, type ModelUsage, modelUsage } from '../model.ts'
import { countAt, type JsonObject, textAt } from '../wire/json.ts'
import { signed } from '../wire/signature.ts'
import type { StreamDecoder } from '../wire/wire-model.ts'

const REFUSED = ['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION', 'IMAGE_SAFETY', 'LANGUAGE']
const FAILED = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE']

export const MAKER = 'google'

export function createGoogleDecoder(target: ModelTarget, newId: () => string): StreamDecoder {
  let called = false
  /** The call whose arguments are still arriving. */
  let growing: { id: string; args: ReturnType<typeof createPartialArgs> } | null = null
  let reason = ''

  const decode = (payload: string, into: ModelPart[]) => {
    const chunk: unknown = JSON.parse(payload)
    if (!isRecord(chunk)) return
    if (chunk.error !== undefined && chunk.error !== null) throw reportedFailure(chunk.error, target)
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined
    if (isRecord(candidate)) {
      const parts: unknown = isRecord(candidate.content) ? candidate.content.parts : undefined
      if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) takePart(part, into)
    }
    const usage = usageOf(chunk.usageMetadata)
    if (usage !== null) into.push({ type: 'usage', usage })
    const blocked = textAt(chunk.promptFeedback, 'blockReason')
    if (blocked !== '') {
      throw refusal(
        textAt(chunk.promptFeedback, 'blockReasonMessage') || `the prompt was blocked (${blocked}).`,
        target,
      )
    }
    if (isRecord(candidate)) takeReason(candidate)
  }

  const takePart = (part: JsonObject, into: ModelPart[]) => {
    const proof = textAt(part, 'thoughtSignature')
    if (isRecord(part.functionCall)) return takeCall(part.functionCall, proof, into)
    const text = textAt(part, 'text')
    if (text !== '') into.push({ type: part.thought === true ? 'reasoning' : 'text', delta: text })
    if (proof !== '') into.push({ type: 'reasoning_signature', signature: signed(MAKER, proof) })
  }

  const takeCall = (call: JsonObject, proof: string, into: ModelPart[]) => {
    const name = textAt(call, 'name')
    if (name !== '') {
      endCall(into)
      const id = textAt(call, 'id') || newId()
      called = true
      const signature = proof === '' ? undefined : signed(MAKER, proof)
      into.push({ type: 'tool_call_start', id, name, signature })
      if (isRecord(call.args)) {
        into.push({ type: 'tool_call_args', id, delta: JSON.stringify(call.args) }, { type: 'tool_call_end', id })
        return
      }
      growing = { id, args: createPartialArgs() }
    }
    if (growing !== null) decoder.kept += growing.args.add(call.partialArgs)
    if (call.willContinue !== true) endCall(into)
  }

  const endCall = (into: ModelPart[]) => {
    if (growing === null) return
    const { id, args } = growing
    growing = null
    into.push({ type: 'tool_call_args', id, delta: args.text() }, { type: 'tool_call_end', id })
  }

  const takeReason = (candidate: JsonObject) => {
    const said = textAt(candidate, 'finishReason')
    if (said === '' || said === 'FINISH_REASON_UNSPECIFIED') return
    const explanation = textAt(candidate, 'finishMessage')
    if (REFUSED.includes(said)) throw refusal(explanation || refusedFor(said, candidate.safetyRatings), target)
    if (FAILED.includes(said)) {
      const message = `The model ${target.model} broke off its answer (${said}). Ask again.`
      throw modelFailure('model_failed', message, target, { retryable: true })
    }
    reason = said
  }

  const decoder = {
    finished: false,
    kept: 0,
    decode,
    // Gemini sends no final event, and some models send a reason with every chunk. So only the end of the stream ends the answer.
    end(into: ModelPart[]) {
      if (decoder.finished) return
      if (reason === '') throw dropped(target)
      endCall(into)
      into.push({ type: 'finish', reason: reason === 'MAX_TOKENS' ? 'length' : called ? 'tool_calls' : 'stop' })
      decoder.finished = true
    },
  }
  return decoder
}

function usageOf(usage: unknown): ModelUsage | null {
  const prompt = countAt(usage, 'promptTokenCount')
  if (prompt === undefined) return null
  const thoughts = countAt(usage, 'thoughtsTokenCount')
  return modelUsage({
    inputTokens: prompt + (countAt(usage, 'toolUsePromptTokenCount') ?? 0),
    // Gemini does not count thoughts as part of the answer.
    outputTokens: (countAt(usage, 'candidatesTokenCount') ?? 0) + (thoughts ?? 0),
    reasoningTokens: thoughts,
    cachedInputTokens: countAt(usage, 'cachedContentTokenCount'),
  })
}

function refusedFor(reason: string, ratings: unknown): string {
  const fired = Array.isArray(ratings)
    ? ratings
        .filter((rating) => isRecord(rating) && rating.blocked === true)
        .map((rating) => textAt(rating, 'category'))
    : []
  return `its filter stopped the answer (${[reason, ...fired].join(', ')}).`
}

// Vertex AI can stream a call's arguments as values at JSON paths. They are collected here and passed on as a whole.

type Container = Map<string | number, Container | unknown>

function createPartialArgs() {
  // Maps, not objects: the paths come from a model, and "__proto__" must be an ordinary key.
  const root: Container = new Map()
  return {
    /** Returns about how many characters were added. */
    add(parts: unknown): number {
      if (!Array.isArray(parts)) return 0
      let characters = 0
      for (const part of parts) {
        if (!isRecord(part)) continue
        const path = textAt(part, 'jsonPath')
        put(root, path, part)
        characters += path.length + textAt(part, 'stringValue').length
      }
      return characters
    },
    /** The arguments so far, as JSON text. */
    text: () => textOf(root),
  }
}

/** `$.recipe.steps[0].name` and `$['a b']` → keys and indexes. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  for (const match of path.matchAll(/\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]|([^.[\]$]+)/g)) {
    const [, index, single, double, name] = match
    steps.push(index === undefined ? (single ?? double ?? name ?? '') : Number(index))
  }
  return steps
}

function put(root: Container, path: string, part: Record<string, unknown>): void {
  const steps = stepsOf(path)
  const last = steps.pop()
  if (last === undefined) return
  let at = root
  for (const step of steps) {
    const below = at.get(step)
    const next: Container = below instanceof Map ? below : new Map()
    at.set(step, next)
    at = next
  }
  const before = at.get(last)
  if (typeof part.stringValue === 'string') {
    at.set(last, typeof before === 'string' ? before + part.stringValue : part.stringValue)
  } else if (typeof part.numberValue === 'number') at.set(last, part.numberValue)
  else if (typeof part.boolValue === 'boolean') at.set(last, part.boolValue)
  else if ('nullValue' in part) at.set(last, null)
  // An entry without a value ends its path. If the path has no value yet, it is an empty list or object.
  else if (before === undefined && part.willContinue !== true) at.set(last, path.endsWith('[]') ? [] : {})
}

function textOf(value: unknown): string {
  if (!(value instanceof Map)) return JSON.stringify(value)
  const entries = [...value]
  const isList = entries.length > 0 && entries.every(([key]) => typeof key === 'number')
  if (isList) return `[${entries.map(([, item]) => textOf(item)).join(',')}]`
  return `{${entries.map(([key, item]) => `${JSON.stringify(String(key))}:${textOf(item)}`).join(',')}}`
}
