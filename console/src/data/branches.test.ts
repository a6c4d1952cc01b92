import type { RunEvent } from 'quarterdeck/client'
import { describe, expect, test } from 'vitest'
import { branchOf } from './branches.ts'
import { createTranscriptFold } from './transcript.ts'

/** A run: the message that it brings, after which message it branches off, and its answer. */
type Turn = [runId: string, brings: string | null, after: string | null, answer: string | null]

function eventsOf(turns: readonly Turn[]): RunEvent[] {
  return turns.flatMap(([runId, brings, after, answer]): RunEvent[] => [
    {
      type: 'RUN_STARTED',
      threadId: 't',
      runId,
      input: { messages: brings === null ? [] : [{ id: brings, role: 'user', content: brings }] },
      ...(after === null ? {} : { metadata: { quarterdeck: { after } } }),
    },
    ...(answer === null ? [] : said(answer)),
    answer === null
      ? { type: 'RUN_ERROR', message: 'No.', code: 'model_failed' }
      : { type: 'RUN_FINISHED', threadId: 't', runId },
  ])
}
const said = (messageId: string): RunEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: messageId },
  { type: 'TEXT_MESSAGE_END', messageId },
]

function fold(events: readonly RunEvent[], from = 0) {
  const made = createTranscriptFold()
  made.add(events.map((event, i) => ({ seq: i + 1, at: null, event })).slice(from))
  return made.current()
}

/** The branch with this item, as words, with `1/2` where it parts from others. */
function read(tree: ReturnType<typeof fold>, through: string | null = null, isWhole = true): string {
  const { items, isCurrent, versions } = branchOf(tree, through, isWhole)
  const words = items.map(({ key }) => {
    const all = versions.get(key)
    return `${key.replace(/^(user|answer):/, '')}${all === undefined ? '' : ` ${all.indexOf(key) + 1}/${all.length}`}`
  })
  return `${isCurrent ? '' : 'old: '}${words.join(', ')}`
}

const talk: Turn[] = [
  ['r1', 'q1', null, 'a1'],
  ['r2', 'q2', null, 'a2'],
]

describe('the branches of a conversation', () => {
  test('without any, are the conversation', () => {
    const tree = fold(eventsOf(talk))
    expect(read(tree)).toBe('q1, a1, q2, a2')
    expect(branchOf(tree, null, true).items).toBe(tree.items)
  })

  test('are answers to the same message, and each can be read', () => {
    const tree = fold(eventsOf([...talk, ['r3', null, 'q2', 'b2'], ['r4', null, 'q2', 'c2'], ['r5', 'q3', null, 'a3']]))
    expect(read(tree)).toBe('q1, a1, q2, c2 3/3, q3, a3')
    expect(read(tree, 'answer:a2')).toBe('old: q1, a1, q2, a2 1/3')
    expect(read(tree, 'answer:b2')).toBe('old: q1, a1, q2, b2 2/3')
  })

  test('are edits, of the first message too, and branches have branches', () => {
    const tree = fold(
      eventsOf([...talk, ['r3', 'q2b', 'a1', 'a2b'], ['r4', null, 'q2b', 'b2b'], ['r5', 'q1b', '', 'a1b']]),
    )
    expect(read(tree)).toBe('q1b 2/2, a1b')
    expect(read(tree, 'user:q1')).toBe('old: q1 1/2, a1, q2b 2/2, b2b 2/2')
    expect(read(tree, 'answer:a2')).toBe('old: q1 1/2, a1, q2 1/2, a2')
    expect(read(tree, 'answer:a2b')).toBe('old: q1 1/2, a1, q2b 2/2, a2b 1/2')
  })

  test('show nothing of an earlier answer while the next one begins', () => {
    const events = eventsOf([...talk, ['r3', null, 'q2', 'b2']])
    expect(read(fold(events.slice(0, -4)))).toBe('q1, a1, q2')
  })

  test('keep how a run failed, and an edit after it leaves that where it was', () => {
    const tree = fold(
      eventsOf([['r1', 'q1', null, null], ['r2', null, 'q1', 'a1'], ...talk.slice(1), ['r4', 'x', 'a1', 'y']]),
    )
    expect(read(tree)).toBe('q1, a1 2/2, x 2/2, y')
    expect(read(tree, 'end:2')).toBe('old: q1, end:2 1/2')
    const failedBefore = fold(
      eventsOf([...talk, ['r3', 'q3', null, null], ['r4', 'q4', null, 'a4'], ['r5', 'z', 'q3', 'w']]),
    )
    expect(read(failedBefore)).toBe('q1, a1, q2, a2, q3, end:12, z 2/2, w')
  })

  test('follow the rule of the server where two people branched off at once', () => {
    const edited: Turn[] = [...talk, ['r3', 'q2b', 'a1', 'a2b']]
    expect(read(fold(eventsOf([...edited, ['r4', 'q3', 'a2', 'a3']])))).toBe('q1, a1, q2b 2/2, a2b, q3, a3')
    expect(read(fold(eventsOf([...edited, ['r4', null, 'q2', 'b2']])))).toBe('q1, a1, q2b 2/2, b2 2/2')
  })

  test('have no arrows where the page with their beginning is not loaded', () => {
    const events = eventsOf([...talk, ['r3', 'q2b', 'a1', 'a2b']])
    expect(read(fold(events, 5), null, false)).toBe('q2b, a2b')
    const first = eventsOf([...talk, ['r3', 'q1b', '', 'a1b']])
    expect(read(fold(first, 5), null, false)).toBe('q1b, a1b')
  })
})
