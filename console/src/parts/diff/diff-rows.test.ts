import { describe, expect, test } from 'vitest'
import { createSeenAccount } from '../seen/seen.ts'
import { type DiffLook, diffParts, diffRows, nextChange } from './diff-rows.ts'
import { parseDiff } from './parse-diff.ts'

const look: DiffLook = { isSplit: false, opened: new Set(), closed: new Set(), between: new Map(), comments: new Set() }
const header = '--- a/a.ts\n+++ b/a.ts\n'
const small = parseDiff(`${header}@@ -1,4 +1,3 @@\n one\n-two\n-three\n+TWO\n four\n`)

describe('the rows of a diff', () => {
  test('are one below the other', () => {
    const { rows, changes } = diffRows(small, look)
    expect(rows.map((row) => (row.type === 'line' ? row.half.line.text : row.type))).toEqual([
      'file',
      'gap',
      'one',
      'two',
      'three',
      'TWO',
      'four',
    ])
    expect(changes).toEqual([3])
  })

  test('or side by side, with changed lines beside each other', () => {
    const { rows, changes } = diffRows(small, { ...look, isSplit: true })
    const pairs = rows.flatMap((row) =>
      row.type === 'pair' ? [[row.left?.line.text ?? null, row.right?.line.text ?? null]] : [],
    )
    expect(pairs).toEqual([
      ['one', 'one'],
      ['two', 'TWO'],
      ['three', null],
      ['four', 'four'],
    ])
    expect(changes).toEqual([3])
  })

  test('say which line a changed line was before', () => {
    const partners = diffRows(small, look).rows.flatMap((row) =>
      row.type === 'line' ? [row.half.partner?.text ?? null] : [],
    )
    expect(partners).toEqual([null, 'TWO', null, 'two', null])
  })

  test('fold long unchanged stretches until they are opened', () => {
    const same = Array.from({ length: 20 }, (_, i) => ` line ${i}`).join('\n')
    const files = parseDiff(`${header}@@ -1,22 +1,22 @@\n-a\n+b\n${same}\n-c\n+d\n`)
    const folded = diffRows(files, look)
    const fold = folded.rows.find(({ type }) => type === 'fold')
    expect(fold).toMatchObject({ count: 14 })
    expect(folded.rows.length).toBe(2 + 2 + 3 + 1 + 3 + 2)
    const opened = diffRows(files, { ...look, opened: new Set([fold?.key ?? '']) })
    expect(opened.rows.length).toBe(2 + 2 + 20 + 2)
  })

  test('go on with lines that were read from the file, at both ends of a gap, and cover the same as before', () => {
    const files = parseDiff(`${header}@@ -1,1 +1,2 @@\n+new\n one\n@@ -10,1 +11,1 @@\n-ten\n+TEN\n`)
    const key = '0.3.gap'
    const shown = (first: string[], last: string[], isSplit = false) => {
      const between = new Map([[key, { first, last, totalLines: 11 }]])
      return diffRows(files, { ...look, isSplit, between }).rows
    }
    const rows = shown(['two'], ['eight', 'nine'])
    expect(
      rows.flatMap((row) =>
        row.type === 'line' ? [[row.half.line.oldNumber, row.half.line.newNumber, row.half.line.text]] : [],
      ),
    ).toEqual([
      [null, 1, 'new'],
      [1, 2, 'one'],
      [2, 3, 'two'],
      [8, 9, 'eight'],
      [9, 10, 'nine'],
      [10, null, 'ten'],
      [null, 11, 'TEN'],
    ])
    expect(rows.find((row) => row.key === key)).toMatchObject({ gap: { left: 5, newFrom: 4 } })
    const all = ['two', '3', '4', '5', '6', '7', 'eight', 'nine']
    for (const isSplit of [false, true]) {
      const whole = shown(all, [], isSplit)
      expect(whole.some((row) => row.key === key)).toBe(false)
      expect(new Set(whole.map((row) => row.key)).size).toBe(whole.length)
      const account = createSeenAccount(diffParts(files))
      account.add(whole.flatMap(({ covers }) => covers))
      expect(account.current()).toEqual({ hasEnd: true, fraction: 1 })
    }
  })

  test('have a comment below its line, on either side', () => {
    const comments = new Set(['0.old.2', '0.new.2', '0.new.9'])
    for (const isSplit of [false, true]) {
      const { rows } = diffRows(small, { ...look, isSplit, comments })
      const found = rows.flatMap((row) => (row.type === 'comment' ? [[row.place, row.line.text]] : []))
      expect(found).toEqual([
        ['0.old.2', 'two'],
        ['0.new.2', 'TWO'],
      ])
    }
  })

  test('leave out the lines of a closed file', () => {
    expect(diffRows(small, { ...look, closed: new Set([0]) }).rows.map(({ type }) => type)).toEqual(['file'])
  })

  test('cover everything that has to be seen, in both layouts', () => {
    const long = `${header}@@ -1,2 +1,1 @@\n-${'x'.repeat(2_500)}\n-b\n+${'y'.repeat(1_500)}\n\\ No newline at end of file\n`
    const files = parseDiff(`${long}--- /dev/null\n+++ b/empty`)
    for (const isSplit of [false, true]) {
      const account = createSeenAccount(diffParts(files))
      const { rows } = diffRows(files, { ...look, isSplit })
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
      account.add(rows.flatMap(({ covers }) => covers))
      expect(account.current()).toEqual({ hasEnd: true, fraction: 1 })
    }
  })

  test('a closed file has not been seen to its end', () => {
    const account = createSeenAccount(diffParts(small))
    account.add(diffRows(small, { ...look, closed: new Set([0]) }).rows.flatMap(({ covers }) => covers))
    expect(account.current().hasEnd).toBe(false)
  })
})

test('the next change is after the row one is at, the previous one before it', () => {
  expect(nextChange([3, 9], 0, 1)).toBe(3)
  expect(nextChange([3, 9], 3, 1)).toBe(9)
  expect(nextChange([3, 9], 9, 1)).toBe(null)
  expect(nextChange([3, 9], 9, -1)).toBe(3)
  expect(nextChange([3, 9], 3, -1)).toBe(null)
})

test('20,000 changed lines become rows quickly', () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `+const line${i} = ${i}`).join('\n')
  const files = parseDiff(`--- /dev/null\n+++ b/big.ts\n@@ -0,0 +1,20000 @@\n${lines}`)
  expect(diffRows(files, look).rows.length).toBe(20_002)
})
