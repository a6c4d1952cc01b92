import { expect, test } from 'vitest'
import { shortened, shownDescription, shownTitle } from './agent-words.ts'

test('short words stay as they are', () => {
  expect(shownTitle('Fix the build')).toBe('Fix the build')
  expect(shownDescription('Two\nlines 👩‍🚀')).toBe('Two\nlines 👩‍🚀')
})

test('a cut never splits a character, and says how long the text was', () => {
  const title = shownTitle('🚀'.repeat(200))

  expect(title.isWellFormed()).toBe(true)
  expect(title.endsWith(' … (400 characters in all)')).toBe(true)
})

test('hidden characters are marked, and the note still counts what was written', () => {
  const title = shownTitle('\u202e'.repeat(9_000))

  expect(title.startsWith('<U+202E><U+202E>')).toBe(true)
  expect(title.endsWith(' … (9000 characters in all)')).toBe(true)
  expect(title.length).toBeLessThanOrEqual(200)
  expect(shownTitle('\u202e'.repeat(30)).endsWith(' … (30 characters in all)')).toBe(true)
})

test('what goes to the log is bounded, however large or deep the value is', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(900)}1${'}'.repeat(900)}`)
  const wide = { list: Array.from({ length: 100_000 }, (_, i) => `item ${i}`), text: 'x'.repeat(1_000_000) }

  expect(JSON.stringify(shortened({ deep })).length).toBeLessThan(20_000)
  expect(JSON.stringify(shortened({ wide, again: wide })).length).toBeLessThan(100_000)
  const names = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`${'x'.repeat(300)}${i}`, i]))
  expect(JSON.stringify(shortened(names)).length).toBeLessThan(300_000)
  expect(shortened({ a: [1, null, { b: true }] })).toEqual({ a: [1, null, { b: true }] })
})
