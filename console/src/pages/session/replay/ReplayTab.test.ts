import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../../data/live-types.ts'
import { createTranscriptFold } from '../../../data/transcript.ts'
import { createReplay, nextPause } from './ReplayTab.tsx'

/** `runs` runs of 23 events each. */
function conversation(runs: number): LogEvent[] {
  const events: RunEvent[] = []
  for (let i = 0; i < runs; i += 1) {
    const message = { id: `u${i}`, role: 'user', content: `question ${i}` }
    events.push({ type: 'RUN_STARTED', threadId: 't', runId: `r${i}`, input: { messages: [message] } })
    events.push({ type: 'TEXT_MESSAGE_START', messageId: `a${i}` })
    for (let n = 0; n < 19; n += 1) events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: `a${i}`, delta: `${n} ` })
    events.push({ type: 'TEXT_MESSAGE_END', messageId: `a${i}` })
    events.push({ type: 'RUN_FINISHED', threadId: 't', runId: `r${i}`, usage: [{ totalTokens: i }] })
  }
  return events.map((event, i) => ({ seq: i + 1, at: i, event }))
}

function foldOf(events: readonly LogEvent[]) {
  const fold = createTranscriptFold()
  fold.add(events)
  return fold.current()
}

test('the conversation at any event is what its events alone would make', () => {
  const events = conversation(100)
  const replay = createReplay()
  replay.extend(events.slice(0, 700))
  replay.extend(events)

  for (const count of [0, 1, 3, 499, 500, 501, 1_000, 2_299, 700, 12, 13, 14, 2_300]) {
    expect(replay.at(count)).toEqual(foldOf(events.slice(0, count)))
  }
})

test('places beyond both ends are the ends', () => {
  const events = conversation(2)
  const replay = createReplay()
  replay.extend(events)

  expect(replay.at(-5).items).toEqual([])
  expect(replay.at(99_999)).toEqual(foldOf(events))
})

test('going back does not change what was kept', () => {
  const events = conversation(50)
  const replay = createReplay()
  replay.extend(events)
  const middle = JSON.stringify(replay.at(600))
  replay.at(1_100)
  replay.at(3)

  expect(JSON.stringify(replay.at(600))).toBe(middle)
})

const events = [0, 300, 10_000, 10_001, null].map((at, i) => ({
  seq: i + 1,
  at,
  event: { type: 'CUSTOM' as const, name: 'x', value: i },
}))

test('a pause is as long as it was, within limits', () => {
  expect([0, 1, 2, 3, 4].map((at) => nextPause(events, at, 1))).toEqual([16, 300, 1_000, 16, 16])
  expect(nextPause(events, 1, 2)).toBe(150)
})
