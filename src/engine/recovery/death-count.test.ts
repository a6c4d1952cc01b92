import { describe, expect, test } from 'vitest'
import { present } from '../../domain/present.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { createDeathCount } from './death-count.ts'

const run = 'r'
const at = 1
const intent = (call: string, lane?: string): Fact => ({
  fact: 'tool_intent',
  run,
  call,
  tool: 'look',
  effect: 'read',
  lane,
  at,
})
const result = (toolCallId: string, subagentRunId?: string): RunEvent => ({
  type: 'TOOL_CALL_RESULT',
  messageId: 'm',
  toolCallId,
  content: '',
  ...present({ subagentRunId }),
})
const step = (lane?: string): Fact => ({
  fact: 'step_finished',
  run,
  step: 1,
  usage: [],
  lane,
  at,
})
const started = (subagentRunId: string, parentToolCallId: string, parentSubagentRunId?: string): RunEvent => ({
  type: 'SUBAGENT_STARTED',
  subagentRunId,
  name: `agent of ${parentToolCallId}`,
  parentToolCallId,
  ...present({ parentSubagentRunId }),
})
const death: Fact = { fact: 'run_recovered', run, fence: 2, died: true, at }
const stopping: Fact = { fact: 'stopping', run, at }
const handOver: Fact = { fact: 'run_recovered', run, fence: 2, at }

function countOf(...entries: (Fact | RunEvent)[]) {
  const count = createDeathCount()
  for (const entry of entries) count.see(entry)
  return {
    calls: ['a', 'b', 'c'].map((call) => count.ofCall(call)),
    steps: Object.fromEntries(count.ofSteps().map(({ subagent, deaths }) => [subagent ?? 'own', deaths])),
  }
}

describe('a death of the process', () => {
  test('counts for every call that was under way, and for no other', () => {
    const seen = countOf(step(), intent('a'), intent('b'), result('b'), death, intent('a'), intent('c'), death)
    expect(seen).toEqual({ calls: [2, 0, 1], steps: {} })
  })

  test('counts for the model step when no call was under way', () => {
    expect(countOf(death, death)).toEqual({ calls: [0, 0, 0], steps: { own: 2 } })
    expect(countOf(death, step(), intent('a'), result('a'), death)).toEqual({ calls: [0, 0, 0], steps: { own: 1 } })
  })

  test('does not count for a call that had not begun again', () => {
    expect(countOf(step(), intent('a'), death, death)).toEqual({ calls: [1, 0, 0], steps: { own: 1 } })
  })

  test('does not count when the run was given back', () => {
    expect(countOf(step(), intent('a'), handOver, intent('a'), death)).toEqual({ calls: [1, 0, 0], steps: {} })
    expect(countOf(handOver, handOver)).toEqual({ calls: [0, 0, 0], steps: {} })
  })

  test('does not count when the owner was told to stop; the next owner counts again', () => {
    const killed = [step(), intent('a'), stopping, death, intent('a'), death]
    expect(countOf(...killed)).toEqual({ calls: [1, 0, 0], steps: {} })
  })

  test('is counted from zero again after a result', () => {
    const seen = countOf(step(), intent('a'), death, intent('a'), result('a'), step(), intent('b'), death)
    expect(seen).toEqual({ calls: [0, 1, 0], steps: {} })
  })

  test('counts for each sub-agent by itself, and not for an agent that waits for it', () => {
    const life = [started('s1', 'ask1'), started('s2', 'ask2'), started('s3', 'ask3', 's2'), intent('a', 'ask1')]
    expect(countOf(step(), ...life, death)).toEqual({ calls: [1, 0, 0], steps: { 'agent of ask3': 1 } })
    // The one whose step killed it twice is told from the one that has finished a step in between.
    const again = [started('t1', 'ask1'), started('t3', 'ask3', 't2'), started('t2', 'ask2')]
    const seen = countOf(step(), ...life, death, ...again, intent('a', 'ask1'), result('a', 't1'), death)
    expect(seen).toEqual({ calls: [0, 0, 0], steps: { 'agent of ask1': 1, 'agent of ask3': 2 } })
  })
})
