import { expect, test } from 'vitest'
import { parseDiff } from '../diff/parse-diff.ts'
import { versionsDiff } from './versions-diff.ts'

const read = (versions: Parameters<typeof versionsDiff>[0]) =>
  parseDiff(versionsDiff(versions)).map(({ name, kind, entries }) => [
    name,
    kind,
    ...entries.flatMap((entry) => (entry.type === 'stretch' ? [] : [`${entry.type} ${entry.text}`])),
  ])

test('the difference has a file for each text, and says which are new and which are gone', () => {
  expect(
    read([
      { name: 'to', before: 'bob', after: 'eve' },
      { name: 'cc', before: null, after: 'ada' },
      { name: 'bcc', before: 'x\ny', after: null },
    ]),
  ).toEqual([
    ['to', 'modify', 'remove bob', 'add eve'],
    ['cc', 'create', 'add ada'],
    ['bcc', 'delete', 'remove x', 'remove y'],
  ])
})

test('a line end more or less is a difference that one sees', () => {
  expect(read([{ name: 'a', before: 'x', after: 'x\n' }])).toEqual([['a', 'modify', 'same x', 'add ']])
})

test('texts that have nothing in common are shown one after the other', () => {
  const lines = (word: string) => Array.from({ length: 1_500 }, (_, i) => `${word}${i}`).join('\n')
  const [file] = parseDiff(versionsDiff([{ name: 'a', before: lines('x'), after: lines('y') }]))
  expect([file?.removed, file?.added]).toEqual([1_500, 1_500])
})
