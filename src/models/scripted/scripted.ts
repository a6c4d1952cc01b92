import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { dropped, modelFailure } from '../failure.ts'
import { type Model, type ModelPart, type ModelRequest, modelUsage, streamOf } from '../model.ts'
import type { Script, ScriptedAnswer, ScriptedPart } from './script.ts'

export interface ScriptedOptions extends Script {
  clock: Clock
  name: string
  /** Makes ids for calls that have none in the script. */
  newId(): string
}

/** Plays a script. Every request uses one answer; `script.ts` says which. Each part arrives separately. */
export function createScriptedModel(options: ScriptedOptions): Model {
  const { clock, name, newId } = options
  const target = { provider: 'scripted', model: name, host: 'script', keyVariable: '', under: 'model' as const }
  const next = createChooser(options, name)

  async function* parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    const answer = next(request)
    let called = false
    for (const part of answer.parts) {
      if (signal.aborted) return
      if ('text' in part || 'reasoning' in part) {
        yield* play(part, signal)
      } else if ('tool_call' in part) {
        called = true
        yield callParts(part.tool_call, newId)
      } else if ('usage' in part) {
        yield [{ type: 'usage', usage: usageOf(part.usage) }]
      } else if ('delay_ms' in part) {
        await sleep(clock, part.delay_ms, signal)
      } else if ('error' in part) {
        const { code, message = `The script says ${code}.`, retryable = false, after } = part.error
        throw modelFailure(code, message, target, { retryable, retryAfter: after })
      } else if ('drop' in part) {
        throw dropped(target)
      } else {
        await aborted(signal)
      }
    }
    if (signal.aborted) return
    yield [{ type: 'finish', reason: answer.finish ?? (called ? 'tool_calls' : 'stop') }]
  }

  async function* play(
    part: Extract<ScriptedPart, { text: string } | { reasoning: string }>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelPart[]> {
    const delta: ModelPart =
      'text' in part ? { type: 'text', delta: part.text } : { type: 'reasoning', delta: part.reasoning }
    for (let count = 0; count < (part.repeat ?? 1); count += 1) {
      if (part.delay_ms !== undefined) await sleep(clock, part.delay_ms, signal)
      if (signal.aborted) return
      yield [delta]
    }
    if ('signature' in part && part.signature !== undefined) {
      yield [{ type: 'reasoning_signature', signature: part.signature }]
    }
  }

  return { provider: 'scripted', name, stream: streamOf(parts), check: () => Promise.resolve() }
}

function createChooser({ answers, loop }: Script, name: string): (request: ModelRequest) => ScriptedAnswer {
  const inOrder = answers.filter((answer) => answer.when === undefined)
  const taken = new Map<ScriptedAnswer, number>()
  let position = 0
  return (request) => {
    const fitting = answers.find(
      (answer) => fits(answer, request) && (taken.get(answer) ?? 0) < (answer.times ?? Infinity),
    )
    if (fitting !== undefined) {
      taken.set(fitting, (taken.get(fitting) ?? 0) + 1)
      return fitting
    }
    const answer = inOrder[loop && inOrder.length > 0 ? position % inOrder.length : position]
    if (answer === undefined) {
      throw new ServerError(
        'model_failed',
        `The script ${name} has no answer for this request: its ${inOrder.length} answers in order are used up and no \`when\` matches. Add an answer, or write loop: true.`,
        { details: { provider: 'scripted', model: name, retryable: false } },
      )
    }
    position += 1
    return answer
  }
}

function fits({ when }: ScriptedAnswer, { messages }: ModelRequest): boolean {
  if (when === undefined) return false
  const newest = messages.at(-1)
  if (typeof when === 'string') return newest?.content.toLowerCase().includes(when.toLowerCase()) === true
  if (when.tool !== undefined) return newest?.role === 'tool' && newest.toolName === when.tool
  const asked = messages.findLast((message) => message.role === 'user')
  return asked?.content.toLowerCase().includes((when.user ?? '').toLowerCase()) === true
}

function callParts(call: Extract<ScriptedPart, { tool_call: unknown }>['tool_call'], newId: () => string): ModelPart[] {
  const id = call.id ?? newId()
  const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {})
  return [
    { type: 'tool_call_start', id, name: call.name, signature: call.signature },
    { type: 'tool_call_args', id, delta: args === '' ? '{}' : args },
    { type: 'tool_call_end', id },
  ]
}

const usageOf = ({ input, output, reasoning, cached }: Extract<ScriptedPart, { usage: unknown }>['usage']) =>
  modelUsage({ inputTokens: input, outputTokens: output, reasoningTokens: reasoning, cachedInputTokens: cached })

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
