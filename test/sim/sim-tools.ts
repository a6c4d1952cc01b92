// The tools of a trial, one of each kind of effect. The ledger in the history counts what really began.

import { type Clock, sleep } from '../../src/domain/clock.ts'
import type { Tool, ToolOutcome } from '../../src/tools/tool.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Random } from './random.ts'

export interface SimToolsDeps {
  random: Random
  faults: Faults['tool']
  history: History
  kernel: Kernel
  clock: Clock
  life: number
  timeoutMs: number
  isCalm: () => boolean
}

const effects = { look: 'read', put: 'idempotent', pay: 'once' } as const

/** What a model may ask for; the last one does not exist. */
export const toolNames = ['look', 'put', 'pay', 'nope'] as const

export function createSimTools(deps: SimToolsDeps): ReadonlyMap<string, Tool> {
  const { random, faults, history, kernel, clock, life, timeoutMs, isCalm } = deps

  async function behave(signal: AbortSignal): Promise<ToolOutcome> {
    if (isCalm()) return { content: 'fine', isError: false }
    if (random.chance(faults.throws)) throw new Error('a bug in a tool')
    if (random.chance(faults.hangs)) await new Promise(() => {})
    if (random.chance(faults.throwsLate)) {
      await sleep(clock, timeoutMs * 2)
      throw new Error('a late bug in a tool')
    }
    await sleep(clock, random.float() * faults.ms, random.chance(0.5) ? signal : undefined)
    return random.chance(faults.fails) ? { content: 'it failed', isError: true } : { content: 'done', isError: false }
  }

  return new Map(
    Object.entries(effects).map(([name, effect]) => [
      name,
      {
        name,
        description: `Does ${name}.`,
        parameters: { type: 'object' },
        effect,
        timeoutMs,
        call(call, signal) {
          const { callId, sessionId, runId } = call
          const args = JSON.stringify(call.arguments)
          history.toolStarts.push({
            tool: name,
            effect,
            callId,
            arguments: args,
            sessionId,
            runId,
            at: kernel.time,
            life,
          })
          kernel.trace(`tool ${name} ${callId} ${args}`)
          return behave(signal)
        },
      } satisfies Tool,
    ]),
  )
}
