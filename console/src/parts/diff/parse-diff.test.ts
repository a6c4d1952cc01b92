import { describe, expect, test } from 'vitest'
import { parseDiff, withRest } from './parse-diff.ts'

describe('a unified diff', () => {
  test('has files, stretches and numbered lines', () => {
    const text = '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -10,3 +10,3 @@ function main() {\n one\n-two\n+TWO\n three\n'
    expect(parseDiff(text)).toEqual([
      {
        name: 'src/a.ts',
        formerName: null,
        kind: 'modify',
        added: 1,
        removed: 1,
        entries: [
          { type: 'stretch', skipped: 9, oldFrom: 1, newFrom: 1, text: 'function main() {' },
          { type: 'same', text: 'one', oldNumber: 10, newNumber: 10 },
          { type: 'remove', text: 'two', oldNumber: 11, newNumber: null },
          { type: 'add', text: 'TWO', oldNumber: null, newNumber: 11 },
          { type: 'same', text: 'three', oldNumber: 12, newNumber: 12 },
        ],
      },
    ])
  })

  test('says which files are new and which are deleted', () => {
    const text = '--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+one\n--- a/old.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n'
    expect(parseDiff(text).map(({ name, kind, added, removed }) => [name, kind, added, removed])).toEqual([
      ['new.ts', 'create', 1, 0],
      ['old.ts', 'delete', 0, 1],
    ])
    expect(parseDiff('--- /dev/null\n+++ b/__init__.py')).toEqual([
      { name: '__init__.py', formerName: null, kind: 'create', added: 0, removed: 0, entries: [] },
    ])
  })

  test('does not take removed and added lines for headers', () => {
    const text = '--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n--- drop it\n-b\n+++ keep it\n+c\n'
    const [file, ...others] = parseDiff(text)
    expect(others).toEqual([])
    expect(file?.entries.slice(1).map((entry) => entry.text)).toEqual(['-- drop it', 'b', '++ keep it', 'c'])
  })

  test('counts the lines between two stretches', () => {
    const text = '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +10 @@\n+c\n'
    expect(parseDiff(text)[0]?.entries.filter(({ type }) => type === 'stretch')).toEqual([
      { type: 'stretch', skipped: 0, oldFrom: 1, newFrom: 1, text: '' },
      { type: 'stretch', skipped: 8, oldFrom: 2, newFrom: 2, text: '' },
    ])
  })

  test('keeps every line that it does not understand', () => {
    const text =
      'diff --git a/a b/a\nnew file mode 100755\nBinary files differ\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\nwhat is this\n… 12 lines not shown'
    const notes = parseDiff(text).flatMap(({ entries }) => entries.filter(({ type }) => type === 'note'))
    expect(notes.map((note) => note.text)).toEqual([
      'diff --git a/a b/a',
      'new file mode 100755',
      'Binary files differ',
      '\\ No newline at end of file',
      'what is this',
      '… 12 lines not shown',
    ])
    expect(parseDiff('not a diff at all')[0]?.entries).toEqual([{ type: 'note', text: 'not a diff at all' }])
    expect(parseDiff('')).toEqual([])
  })

  test('of a stretch that lies about its length loses nothing', () => {
    const lines = ['@@ -1,1 +1,1 @@', '-a', '+b', '+smuggled']
    const entries = parseDiff(['--- a/a', '+++ b/a', ...lines].join('\n'))[0]?.entries ?? []
    expect(entries.map(({ type, text }) => [type, text])).toEqual([
      ['stretch', ''],
      ['remove', 'a'],
      ['add', 'b'],
      ['note', '+smuggled'],
    ])
  })
})

test('after a last stretch that ends in three unchanged lines there may be more', () => {
  const file = (end: string) => parseDiff(`--- a/a\n+++ b/a\n@@ -5,4 +5,5 @@\n-a\n+b\n+c\n${end}`).map(withRest)[0]
  const rest = { type: 'stretch', skipped: null, oldFrom: 9, newFrom: 10, text: '' }
  expect(file(' x\n y\n z\n')?.entries.at(-1)).toEqual(rest)
  expect(file(' x\n y\n')?.entries.at(-1)).toMatchObject({ type: 'same' })
  expect(file(' x\n y\n z\n\\ No newline at end of file\n')?.entries.at(-1)).toMatchObject({ type: 'note' })
})
