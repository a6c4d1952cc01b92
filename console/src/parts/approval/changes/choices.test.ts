import { expect, test } from 'vitest'
import { argumentsOf, type ChangedFile, type Choice, reviewLock, summaryOf } from './choices.ts'

const file = (path: string): ChangedFile => ({
  ...{ path, kind: 'modify', added_lines: 1, removed_lines: 1, risk: 'low', binary: false, warnings: [], fate: null },
})
const files = ['a', 'b', 'c'].map(file)
const of = (chosen: Readonly<Record<string, Choice>>) => ({ of: (path: string) => chosen[path] ?? 'write' })
const none = new Map<string, string>()

test('a yes says only what differs from what the agent proposed', () => {
  expect(argumentsOf(files, of({}), none)).toEqual({})
  expect(argumentsOf(files, of({ b: 'leave', c: 'discard' }), new Map([['a', 'mine']]))).toEqual({
    arguments: { leave: ['b'], discard: ['c'], edit: { a: 'mine' } },
  })
  // An edit of a file that is not written is no edit.
  expect(argumentsOf(files, of({ a: 'leave' }), new Map([['a', 'mine']]))).toEqual({
    arguments: { leave: ['a'], discard: [], edit: {} },
  })
})

test('what a yes does is said in a sentence', () => {
  expect(summaryOf(files, of({}))).toBe('Writes 3 files.')
  expect(summaryOf(files, of({ b: 'leave', c: 'discard' }))).toBe('Writes 1 file, keeps 1 for later, throws 1 away.')
  expect(summaryOf(files, of({ a: 'discard', b: 'discard', c: 'discard' }))).toBe('Writes nothing, throws 3 away.')
})

test('a dangerous yes waits until every file that is written was looked at', () => {
  const facts = { files, choices: of({ c: 'leave' }), isLow: false, looked: new Set(['a']), unready: [] }
  expect(reviewLock(facts)).toBe('Open what is written and scroll to its end: 1 file to go.')
  expect(reviewLock({ ...facts, isLow: true })).toBeNull()
  expect(reviewLock({ ...facts, looked: new Set(['a', 'b']) })).toBeNull()
  expect(reviewLock({ ...facts, isLow: true, unready: ['b', 'c'] })).toBe('The edit of b cannot be written yet.')
  const all = { a: 'leave', b: 'leave', c: 'leave' } as const
  expect(reviewLock({ ...facts, choices: of(all) })).toBe('Nothing would be written. Choose a file, or reject.')
  expect(reviewLock({ ...facts, choices: of({ ...all, c: 'discard' }) })).toBeNull()
})
