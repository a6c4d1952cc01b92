import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { applyPatch, readPatch } from './apply-patch.ts'
import { unifiedDiff } from './unified-diff.ts'

const patchOf = (hunks: string): string => `--- a/x\n+++ b/x\n${hunks}`
const applied = (before: string, hunks: string): string => applyPatch(before, readPatch(patchOf(hunks), ['x']), 'x')

/** Texts with few different lines, so that they have much in common. */
const line = fc.constantFrom(
  'a',
  'b',
  'c',
  '',
  ' d',
  '- e',
  '++ f',
  '\\ g',
  '@@ h',
  '\r',
  'i\r',
  '-- j',
  '日本',
  '👩‍💻',
)
const text = fc
  .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''))

test('a diff of ours applies to exactly the new text', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { hunks } = unifiedDiff(before, after)
      if (before === after) expect(hunks).toBe('')
      else expect(applied(before, hunks)).toBe(after)
    }),
    { numRuns: runs(1_000) },
  )
})

test('a diff of ours is refused on a text with other context, or at another line', () => {
  const content = fc.array(fc.nat(1_000), { minLength: 10, maxLength: 30 })
  fc.assert(
    fc.property(content, fc.nat(29), fc.integer({ min: 1, max: 5 }), (numbers, at, shift) => {
      const lines = numbers.map((number, i) => `${i} ${number}\n`)
      const place = at % lines.length
      const { hunks } = unifiedDiff(lines.join(''), lines.with(place, 'changed\n').join(''))
      const shifted = `${'new\n'.repeat(shift)}${lines.join('')}`
      const other = lines.map((one, i) => (Math.abs(i - place) === 1 ? `other ${one}` : one)).join('')
      expect(() => applied(shifted, hunks)).toThrow('does not fit')
      expect(() => applied(other, hunks)).toThrow('does not fit')
    }),
  )
})

test('the same lines elsewhere do not count: the stated line does', () => {
  const before = 'a\nb\nc\n'
  const { hunks } = unifiedDiff(before, 'a\nB\nc\n')
  expect(() => applied(`x\n${before}${before}`, hunks)).toThrow('line 1 is "x", but the patch says "a"')
})

test('hunks have three lines of context and join where these touch', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i + 1}\n`)
  const changed = lines.with(4, 'five\n').with(11, 'twelve\n').with(29, 'thirty')
  expect(unifiedDiff(lines.join(''), changed.join(''))).toEqual({
    hunks: [
      ...['@@ -2,14 +2,14 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8', ' 9', ' 10', ' 11', '-12', '+twelve'],
      ...[
        ' 13',
        ' 14',
        ' 15',
        '@@ -27,4 +27,4 @@',
        ' 27',
        ' 28',
        ' 29',
        '-30',
        '+thirty',
        '\\ No newline at end of file',
        '',
      ],
    ].join('\n'),
    addedLines: 3,
    removedLines: 3,
    added: ['five\n', 'twelve\n', 'thirty'],
    isRough: false,
  })
  expect(unifiedDiff('', 'a\n').hunks).toBe('@@ -0,0 +1 @@\n+a\n')
  expect(unifiedDiff('a\nb\n', '').hunks).toBe('@@ -1,2 +0,0 @@\n-a\n-b\n')
})

// The library alone takes minutes for these. No time is measured, because the machine may be busy.
test('10,000 changed lines among 50,000 are found one by one', () => {
  const lines = Array.from({ length: 50_000 }, (_, i) => `line ${i}\n`)
  const changed = lines.map((one, i) => (i % 5 === 0 ? `changed ${i}\n` : one))
  const { addedLines, removedLines, isRough, hunks } = unifiedDiff(lines.join(''), changed.join(''))
  expect({ addedLines, removedLines, isRough }).toEqual({ addedLines: 10_000, removedLines: 10_000, isRough: false })
  expect(applied(lines.join(''), hunks)).toBe(changed.join(''))
})

test('texts without anything to hold on to are shown as replaced, and say so', () => {
  const shuffled = (step: number) => Array.from({ length: 20_000 }, (_, i) => `${(i * step) % 97}\n`).join('')
  const { isRough, hunks } = unifiedDiff(shuffled(7), shuffled(31))
  expect(isRough).toBe(true)
  expect(applied(shuffled(7), hunks)).toBe(shuffled(31))
})
