// Chat completion chunks → parts. Written for the servers that exist, not for the one that is documented: calls may lack an
// id or an index, repeat their name or leave it empty, come in pieces or whole, and the last chunk may have no [DONE] after it.

import { dropped, type ModelTarget, modelFailure, refusal, reportedFailure } from '../failure.ts'
import type { FinishReason, ModelPart, ModelUsage } from '../model.ts'
import { countAt, isObject, textAt } from '../wire/json.ts'
import type { StreamDecoder } from '../wire/wire-model.ts'
import { createTextFrames } from './text-frames.ts'

interface Chunk {
  choices?: unknown
  usage?: unknown
  error?: unknown
  x_groq?: unknown
  object?: unknown
}

interface Choice {
  delta?: unknown
  finish_reason?: unknown
  content_filter_results?: unknown
}

interface Delta {
  content?: unknown
  reasoning_content?: unknown
  reasoning?: unknown
  refusal?: unknown
  tool_calls?: unknown
}

interface OpenCall {
  /** Ours alone, also where a server gives two calls the same one. */
  id: string
  /** As the server said it; empty when it said none. */
  sentId: string
  name: string
  /** Its start was sent; it waits for a name until then. */
  started: boolean
  /** Arguments that came before the name. */
  early: string
  hasArguments: boolean
  /** All that came. */
  text: string
}

/** How many characters of arguments are looked at again, in one answer, to tell a new call from more of the last one. */
const MOST_LOOKED_AT = 10_000_000
/** What a call weighs that may never get a name. */
const CALL_CHARACTERS = 100

export function createOpenAiDecoder(target: ModelTarget, newId: () => string): StreamDecoder {
  const calls: OpenCall[] = []
  // Looked up for every piece, of which a hostile server sends a million: `calls` is not searched.
  const newestAt = new Map<number, OpenCall>()
  const newestSentAs = new Map<string, OpenCall>()
  const taken = new Set<string>([''])
  let lookedAt = 0
  let declined = ''
  let reason: FinishReason | null = null
  let finished = false
  let kept = 0
  const frames = createTextFrames()

  const decode = (payload: string, into: ModelPart[]) => {
    if (finished) return
    const framed = frames.read(payload)
    if (framed !== null) {
      if (framed.delta !== '') into.push(framed)
      return
    }
    const known = into.length
    parse(payload, into)
    const part = into.length === known + 1 ? into[known] : undefined
    if (part?.type === 'text' || part?.type === 'reasoning') frames.learn(payload, part.delta)
  }

  const parse = (payload: string, into: ModelPart[]) => {
    if (payload === '[DONE]') return finish(into)
    const chunk: Chunk | null = JSON.parse(payload)
    if (chunk === null || typeof chunk !== 'object') return
    if (chunk.error !== undefined && chunk.error !== null) throw reportedFailure(chunk.error, target)
    // vLLM has no `error` around its own.
    if (chunk.object === 'error') throw reportedFailure(chunk, target)
    const choice: Choice | undefined = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
    if (choice !== undefined && choice !== null) {
      const { delta } = choice
      if (typeof delta === 'object' && delta !== null) takeDelta(delta, into)
      if (typeof choice.finish_reason === 'string') takeReason(choice.finish_reason, choice, into)
    }
    const usage = usageOf(chunk.usage) ?? usageOf(isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined)
    if (usage !== null) into.push({ type: 'usage', usage })
  }

  const takeDelta = (delta: Delta, into: ModelPart[]) => {
    const thought = delta.reasoning_content ?? delta.reasoning
    if (typeof thought === 'string' && thought !== '') into.push({ type: 'reasoning', delta: thought })
    const { content } = delta
    if (typeof content === 'string') {
      if (content !== '') into.push({ type: 'text', delta: content })
    } else if (Array.isArray(content)) {
      takeContentList(content, into)
    }
    if (typeof delta.refusal === 'string') {
      declined += delta.refusal
      kept += delta.refusal.length
    }
    // Calls are closed once the reason is known.
    if (reason === null && Array.isArray(delta.tool_calls))
      for (const piece of delta.tool_calls) takeCallPiece(piece, into)
  }

  const takeCallPiece = (piece: unknown, into: ModelPart[]) => {
    if (!isObject(piece)) return
    const id = textAt(piece, 'id')
    const name = textAt(piece.function, 'name')
    const index = typeof piece.index === 'number' ? piece.index : null
    const given: unknown = isObject(piece.function) ? piece.function.arguments : undefined
    // A few servers send the arguments as the object they are.
    const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : ''
    const call = callOf(index, id, name, text)
    if (call.name === '') call.name = name
    call.text += text
    if (!call.started) {
      call.early += text
      kept += text.length
      if (call.name !== '') start(call, into)
    } else if (text !== '') {
      addArguments(call, text, into)
    }
  }

  const callOf = (index: number | null, id: string, name: string, text: string): OpenCall => {
    let known: OpenCall | undefined
    if (index !== null) known = newestAt.get(index)
    else if (id !== '') known = newestSentAs.get(id) ?? (name === '' ? calls.at(-1) : undefined)
    else if (name === '') known = calls.at(-1)
    if (known !== undefined && !isAnother(known, id, name, text)) return known
    const call = {
      id: taken.has(id) ? newId() : id,
      sentId: id,
      name: '',
      started: false,
      early: '',
      hasArguments: false,
      text: '',
    }
    calls.push(call)
    taken.add(call.id)
    kept += CALL_CHARACTERS
    if (index !== null) newestAt.set(index, call)
    newestSentAs.set(id, call)
    return call
  }

  /**
   * Gemini's compatible API gives every parallel call the index 0, and some local servers give every call the same id. A name
   * makes it another call where the id or the name is another, or where the arguments begin again behind whole ones.
   */
  const isAnother = (known: OpenCall, id: string, name: string, text: string): boolean =>
    name !== '' &&
    known.name !== '' &&
    ((id !== '' && known.sentId !== id) ||
      name !== known.name ||
      (text.trimStart().startsWith('{') && isWhole(known.text)))

  /** Whether the arguments are all there. */
  const isWhole = (text: string): boolean => {
    lookedAt += text.length
    return lookedAt <= MOST_LOOKED_AT && isObjectText(text)
  }

  const start = (call: OpenCall, into: ModelPart[]) => {
    call.started = true
    into.push({ type: 'tool_call_start', id: call.id, name: call.name })
    if (call.early !== '') addArguments(call, call.early, into)
  }

  const addArguments = (call: OpenCall, text: string, into: ModelPart[]) => {
    if (!call.hasArguments && text.trim() !== '') call.hasArguments = true
    into.push({ type: 'tool_call_args', id: call.id, delta: text })
  }

  const takeReason = (said: string, choice: Choice, into: ModelPart[]) => {
    if (reason !== null) return
    if (declined !== '') throw refusal(declined, target)
    switch (said) {
      case 'content_filter':
        throw refusal(filteredFor(choice.content_filter_results), target)
      case 'error':
      case 'insufficient_system_resource':
        throw modelFailure(
          'model_failed',
          `The model server at ${target.host} broke off the answer (${said}).`,
          target,
          {
            retryable: true,
          },
        )
      case 'length':
      case 'model_length':
        reason = 'length'
        break
      default:
        // Some servers say `stop` although they called a tool, or the other way round.
        reason = calls.length > 0 ? 'tool_calls' : 'stop'
    }
    endCalls(into)
  }

  const endCalls = (into: ModelPart[]) => {
    for (const call of calls) {
      if (!call.started) start(call, into)
      if (!call.hasArguments) into.push({ type: 'tool_call_args', id: call.id, delta: '{}' })
      into.push({ type: 'tool_call_end', id: call.id })
    }
  }

  // Usage comes behind the reason, so the reason is held back until the stream is over.
  const finish = (into: ModelPart[]) => {
    if (declined !== '') throw refusal(declined, target)
    if (reason === null) endCalls(into)
    into.push({ type: 'finish', reason: reason ?? (calls.length > 0 ? 'tool_calls' : 'stop') })
    finished = true
  }

  return {
    decode,
    end(into) {
      if (finished) return
      if (reason === null) throw dropped(target)
      finish(into)
    },
    get finished() {
      return finished
    },
    get kept() {
      return kept
    },
  }
}

/** Mistral: `[{type: 'thinking', thinking: [{type: 'text', text}]}, {type: 'text', text}]`. */
function takeContentList(content: readonly unknown[], into: ModelPart[]): void {
  for (const item of content) {
    if (!isObject(item)) continue
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
  if (!isObject(usage)) return null
  const input = countAt(usage, 'prompt_tokens')
  const output = countAt(usage, 'completion_tokens')
  if (input === undefined || output === undefined) return null
  const reasoning = countAt(usage.completion_tokens_details, 'reasoning_tokens')
  const cached = countAt(usage.prompt_tokens_details, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens')
  const total = countAt(usage, 'total_tokens') ?? 0
  return {
    inputTokens: input,
    // xAI counts reasoning beside the completion; only the total has both.
    outputTokens: Math.max(output, total - input),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
  }
}

/** Azure says which of its filters fired. */
function filteredFor(results: unknown): string {
  if (!isObject(results)) return 'the content filter stopped the answer.'
  const fired = Object.entries(results).filter(([, result]) => isObject(result) && result.filtered === true)
  if (fired.length === 0) return 'the content filter stopped the answer.'
  return `the content filter stopped the answer (${fired.map(([name]) => name).join(', ')}).`
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
