import { type Clock, sleep } from '../../domain/clock.ts'
import { type Model, type ModelPart, type ModelRequest, modelUsage, streamOf } from '../model.ts'
import { demoAnswer } from './answer.ts'

const WORD_MS = 15

/** Needs no key and no network, costs nothing, and always says that it is not a language model. */
export function createDemoModel({ name, clock, newId }: { name: string; clock: Clock; newId: () => string }): Model {
  async function* parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    const { reasoning, text, call } = demoAnswer(request)
    for (const [type, words] of [['reasoning', wordsOf(reasoning)] as const, ['text', wordsOf(text)] as const]) {
      for (const delta of words) {
        await sleep(clock, WORD_MS, signal)
        if (signal.aborted) return
        yield [{ type, delta }]
      }
    }
    const last: ModelPart[] = []
    if (call !== null) {
      const id = newId()
      last.push(
        { type: 'tool_call_start', id, name: call.name },
        { type: 'tool_call_args', id, delta: call.arguments },
        { type: 'tool_call_end', id },
      )
    }
    const spoken = tokens(text) + tokens(call?.arguments ?? '')
    const thought = tokens(reasoning)
    last.push(
      {
        type: 'usage',
        usage: modelUsage({
          inputTokens: inputTokens(request),
          outputTokens: spoken + thought,
          reasoningTokens: thought === 0 ? undefined : thought,
        }),
      },
      { type: 'finish', reason: call === null ? 'stop' : 'tool_calls' },
    )
    yield last
  }
  return { provider: 'demo', name, stream: streamOf(parts), check: () => Promise.resolve() }
}

const wordsOf = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? []

/** The usual rule of thumb: four characters are a token. */
const tokens = (text: string): number => Math.ceil(text.length / 4)

function inputTokens({ system, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, message) => sum + tokens(message.content), 0)
  return tokens(system) + said + (tools.length === 0 ? 0 : tokens(JSON.stringify(tools)))
}
