// The model of a trial: answers, reasons, calls tools, and fails in every way that the port allows.

import { type Clock, sleep } from '../../src/domain/clock.ts'
import { ServerError } from '../../src/domain/errors.ts'
import { type Model, type ModelPart, type ModelRequest, streamOf } from '../../src/models/model.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { Random } from './random.ts'
import { gatedTools, NO_TOOL } from './sim-tools.ts'

export interface SimModelDeps {
  random: Random
  faults: Faults['model']
  history: History
  clock: Clock
  /** True once faults are over: answers are short and complete then. */
  isCalm: () => boolean
}

interface PlannedCall {
  name: string
  args: string
}

const LONG_CHUNKS = 40
const PARTS_PER_LONG_CHUNK = 40

export function createSimModel({ random, faults, history, clock, isCalm }: SimModelDeps): Model {
  let lastCalls: PlannedCall[] = []

  function planCalls(names: readonly string[]): PlannedCall[] {
    if (lastCalls.length > 0 && random.chance(faults.repeats)) return lastCalls
    const count = random.chance(0.1) ? random.between(8, 12) : random.between(1, 3)
    const gated = names.filter((name) => gatedTools.has(name))
    lastCalls = Array.from({ length: count }, () => ({
      name: random.pick([NO_TOOL, ...names, ...names, ...gated]),
      args: random.chance(0.05) ? '{"broken' : JSON.stringify({ n: random.below(1_000) }),
    }))
    return lastCalls
  }

  function textParts(): ModelPart[][] {
    const word = () => `w${random.below(10_000)} `
    if (!isCalm() && random.chance(faults.long)) {
      return Array.from({ length: LONG_CHUNKS }, () =>
        Array.from({ length: PARTS_PER_LONG_CHUNK }, () => ({ type: 'text', delta: word().repeat(24) }) as const),
      )
    }
    return Array.from({ length: random.between(0, 8) }, () => [{ type: 'text', delta: word() }])
  }

  function reasoningParts(): ModelPart[][] {
    if (!random.chance(faults.reasons)) return []
    const thoughts: ModelPart[][] = Array.from({ length: random.between(1, 3) }, () => [
      { type: 'reasoning', delta: `r${random.below(100)} ` },
    ])
    if (random.chance(0.3)) thoughts.push([{ type: 'reasoning_signature', signature: `sig${random.below(100)}` }])
    return thoughts
  }

  function callParts(calls: readonly PlannedCall[]): ModelPart[][] {
    const each = calls.map(({ name, args }, i): ModelPart[] => {
      const id = `c${i}`
      const half = args.length >> 1
      return [
        { type: 'tool_call_start', id, name },
        { type: 'tool_call_args', id, delta: args.slice(0, half) },
        { type: 'tool_call_args', id, delta: args.slice(half) },
        { type: 'tool_call_end', id },
      ]
    })
    // Some servers send the pieces of parallel calls in turns.
    if (random.chance(0.2)) return [0, 1, 2, 3].map((piece) => each.flatMap((parts) => parts.slice(piece, piece + 1)))
    return random.chance(0.5) ? each : [each.flat()]
  }

  function plan(names: readonly string[]): ModelPart[][] {
    const calls = random.chance(isCalm() ? faults.calls / 4 : faults.calls) ? planCalls(names) : []
    const text = textParts()
    const half = text.length >> 1
    // Some models think again in the middle of an answer.
    const again = random.chance(0.2) ? reasoningParts() : []
    return [
      ...reasoningParts(),
      ...text.slice(0, half),
      ...again,
      ...text.slice(half),
      ...callParts(calls),
      [
        { type: 'usage', usage: { inputTokens: random.between(5, 120), outputTokens: random.between(1, 60) } },
        { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : 'stop' },
      ],
    ]
  }

  async function* parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    history.modelCalls += 1
    for (const message of request.messages) {
      // The question to a sub-agent is not a user's.
      if (message.role === 'user' && !message.content.startsWith('{')) history.modelSaw.add(message.content)
    }
    if (!isCalm() && random.chance(faults.refuses)) {
      await sleep(clock, random.below(20), signal)
      throw new ServerError('model_refused', 'The model refused.')
    }
    const hangsAt = random.chance(faults.hangs) ? random.below(6) : -1
    for (const [i, batch] of plan(request.tools.map(({ name }) => name)).entries()) {
      // A hanging answer hangs on when the faults are over: a limit of the run must end it.
      if (i === hangsAt && !isCalm()) await untilAborted(signal)
      await sleep(clock, random.float() * faults.chunkMs, signal)
      if (signal.aborted) {
        await sleep(clock, random.below(30))
        if (random.chance(0.5)) return
        throw new ServerError('model_failed', 'The request was aborted.')
      }
      if (!isCalm() && random.chance(faults.dies)) {
        throw random.chance(0.2)
          ? new TypeError('a bug in a provider')
          : new ServerError('model_stream_dropped', 'The stream broke off.')
      }
      yield batch
    }
  }

  return { provider: 'sim', name: 'sim', stream: streamOf(parts), check: async () => {} }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
}
