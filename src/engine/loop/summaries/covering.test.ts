import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import type { StoredMessage } from '../../../domain/session/message.ts'
import { chooseCovering, storedTokens } from './covering.ts'

const base = { runId: 'r', createdAt: 1 }
const user = (id: string, chars = 400): StoredMessage => ({ ...base, id, role: 'user', content: 'x'.repeat(chars) })
const says = (id: string, chars = 400): StoredMessage => ({
  ...base,
  id,
  role: 'assistant',
  content: 'x'.repeat(chars),
})
const step = (id: string, chars = 400): StoredMessage[] => [
  { ...base, id: `think ${id}`, role: 'reasoning', content: 'Hm.' },
  {
    ...{ ...base, id: `call ${id}`, role: 'assistant', content: '' },
    toolCalls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { ...base, id: `result ${id}`, role: 'tool', toolCallId: id, content: 'x'.repeat(chars) },
]
const room = { tokens: 1_000, messages: 1_000 }

test('leaves the newest exchanges whole, and begins them with a question', () => {
  const talk = ['1', '2', '3', '4', '5', '6'].flatMap((n) => [user(`q${n}`), says(`a${n}`)])

  expect(chooseCovering(talk, room)).toMatchObject({ upTo: 'a5', question: null })
  expect(chooseCovering(talk, { ...room, tokens: 2_000 })).toMatchObject({ upTo: 'a4', question: null })
  expect(chooseCovering(talk, { tokens: 1_000_000, messages: 10 })).toMatchObject({ upTo: 'a3' })
})

test('within a long exchange begins with a step and its thought, and keeps the question', () => {
  const work = [user('q0'), says('a0'), user('q1'), ...step('1'), ...step('2'), ...step('3', 500)]

  expect(chooseCovering(work, room)).toMatchObject({ upTo: 'result 1', question: 'q1' })
  // What follows a summary may begin with a step as well.
  expect(chooseCovering(work.slice(3), { ...room, tokens: 500 }, 'q1')).toMatchObject({
    upTo: 'result 2',
    question: 'q1',
  })
})

test('keeps the last step, whatever its size, and covers nothing if that is all', () => {
  expect(chooseCovering([user('q', 4_000), ...step('1', 40_000)], room)).toMatchObject({ upTo: 'q', question: 'q' })
  expect(chooseCovering([user('q', 40), ...step('1', 40_000)], room)).toBeNull()
  expect(chooseCovering([user('q', 40_000)], room)).toBeNull()
  expect(chooseCovering([], room)).toBeNull()
})

test('never separates a call from its result, and never covers the last message', () => {
  const part = fc.oneof(
    fc.record({ kind: fc.constant('user'), chars: fc.nat(3_000) }),
    fc.record({ kind: fc.constant('says'), chars: fc.nat(3_000) }),
    fc.record({ kind: fc.constant('step'), chars: fc.nat(3_000) }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const talk = parts.flatMap(({ kind, chars }, i) =>
        kind === 'user' ? [user(`u${i}`, chars)] : kind === 'says' ? [says(`s${i}`, chars)] : step(String(i), chars),
      )
      const covering = chooseCovering(talk, room)
      if (covering === null) return
      const rest = talk.slice(covering.covered.length)
      expect(rest.length).toBeGreaterThan(0)
      expect(['user', 'assistant', 'reasoning']).toContain(rest[0]?.role)
      expect(covering.covered.at(-1)?.role).not.toBe('reasoning')
      // More than its share stays only if it cannot be divided.
      const size = rest.reduce((sum, message) => sum + storedTokens(message), 0)
      if (size > 0.3 * room.tokens)
        expect(rest.filter(({ role }) => role === 'assistant' || role === 'user').length).toBeLessThan(3)
    }),
    { numRuns: runs(300) },
  )
})
