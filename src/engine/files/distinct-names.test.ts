import { expect, test } from 'vitest'
import type { FileRecord } from '../../domain/session/file.ts'
import { fileLine } from '../../domain/session/file-frame.ts'
import { withDistinctNames } from './distinct-names.ts'

const file = (name: string): FileRecord => ({
  id: name,
  owner: 'ann',
  sessionId: 's',
  name,
  mimeType: 'text/plain',
  bytes: 1,
  sha256: 'f'.repeat(64),
  createdAt: 1,
})
const namesOf = (...names: string[]) => withDistinctNames(names.map(file)).map(({ name }) => name)

test.each<[string, string[], string[]]>([
  ['different names', ['a.png', 'b.png', '[x].png'], ['a.png', 'b.png', '[x].png']],
  ['the same name', ['a.png', 'a.png', 'a.png'], ['a.png', 'a (2).png', 'a (3).png']],
  ['names that look the same', ['A[1].png', 'a(1).PNG'], ['A[1].png', 'a(1) (2).PNG']],
  ['a number that a name has already', ['a.png', 'a (2).png', 'a.png'], ['a.png', 'a (2).png', 'a (3).png']],
  ['a name that was given as a number', ['a.png', 'a.png', 'a (2).png'], ['a.png', 'a (2).png', 'a (2) (2).png']],
  ['no extension', ['.env', '.env', 'v1. Draft', 'v1. Draft'], ['.env', '.env (2)', 'v1. Draft', 'v1. Draft (2)']],
])('%s', (_what, names, expected) => {
  expect(namesOf(...names)).toEqual(expected)
})

test('names that are too long to be shown whole are still distinct where they are shown', () => {
  const long = `${'😀'.repeat(115)}.docx`
  const lines = namesOf(...Array<string>(12).fill(long)).map(fileLine)

  expect(new Set(lines).size).toBe(12)
  expect(lines[11]).toBe(`[file: ${'😀'.repeat(75)} (12).docx]`)
})

test('a later upload does not change the name of an earlier file', () => {
  const names = ['a.png', 'b.png', 'a.png', 'a (2).png', 'A.png', 'b.png']

  for (let count = 0; count < names.length; count += 1) {
    expect(namesOf(...names).slice(0, count)).toEqual(namesOf(...names.slice(0, count)))
  }
})
