// The routes of an agent whose tools need approval, with the real gate.

import { createSystemClock } from '../../domain/clock.ts'
import type { RunEventOf } from '../../domain/session/event.ts'
import { type TestEngineOptions, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { asLocalUser, eventsOf, openDoors } from './open-doors.ts'
import { type Frame, readSse } from './sse-reader.ts'

const to = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'], additionalProperties: false }

/**
 * `fire` asks an operator, `send` and `note` also ask the session's owner, `look` asks nobody. `delivered` lists the calls. `wait` moves
 * the clock forward. `post` and `run` send a token, because deciding needs one; pass `{}` as headers to send none. Ends with
 * `await using`. `more` as in `openDoors`.
 */
export async function openGatedDoors(options: TestEngineOptions = {}, more?: Parameters<typeof openDoors>[1]) {
  const delivered: unknown[] = []
  const recording = (name: string, more: Partial<ReturnType<typeof testTool>>) =>
    testTool({
      name,
      parameters: to,
      effect: 'once',
      call: async ({ arguments: args }) => {
        delivered.push([name, args.to])
        return { content: `${name}: ${String(args.to)}`, isError: false }
      },
      ...more,
    })
  let leap = 0
  const real = createSystemClock()
  const clock = { ...real, now: () => real.now() + leap, mono: () => real.mono() + leap }
  const store = openTestStore()
  const doors = await openDoors(
    {
      clock,
      store,
      tools: [
        recording('fire', { risk: 'critical' }),
        recording('send', { risk: 'high' }),
        recording('note', { risk: 'low', approval: { ask: 'always' } }),
        testTool({ name: 'look', call: async () => ({ content: 'Nothing there.', isError: false }) }),
      ],
      ...options,
      agent: {
        approval: { ...testAgent.approval, default: { ask: 'risk', atLeast: 'high' }, by: 'owner' },
        ...options.agent,
      },
    },
    more,
  )
  const post = (path: string, body: unknown, headers: Record<string, string> = asLocalUser) =>
    doors.post(path, body, headers)
  return {
    ...doors,
    post,
    run: async (path: string, body: unknown, headers?: Record<string, string>) =>
      readSse(await post(path, body, headers)).rest(),
    delivered,
    wait: (ms: number) => {
      leap += ms
    },
  }
}

/** A model's answer that calls tools with one argument: `calls(['send', 'bob'])`. */
export const calls = (...named: [tool: string, to?: string][]) => ({
  parts: named.map(([name, to]) => ({ tool_call: { name, arguments: to === undefined ? {} : { to } } })),
})

export const says = (text: string) => ({ parts: [{ text }] })

/** The interrupts that a run ended with. */
export function interruptsOf(frames: readonly Frame[]): { id: string; toolCallId?: string | undefined }[] {
  const last = eventsOf(frames).at(-1)
  if (last?.type !== 'RUN_FINISHED' || last.outcome?.type !== 'interrupt') {
    throw new Error(`this run has not ended with an interrupt: ${JSON.stringify(last)}`)
  }
  return last.outcome.interrupts
}

export const finished = (frames: readonly Frame[]): RunEventOf<'RUN_FINISHED'>['outcome'] | null => {
  const last = eventsOf(frames).at(-1)
  return last?.type === 'RUN_FINISHED' ? last.outcome : null
}
