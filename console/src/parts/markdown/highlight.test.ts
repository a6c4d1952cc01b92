import { expect, test } from 'vitest'
import { highlight } from './highlight.ts'

test('colours code without a change of its text', () => {
  const code = 'const a: string = "x" // <b>&amp;\u202e\n'
  const pieces = highlight(code, 'ts')
  expect(pieces?.map(({ text }) => text).join('')).toBe(code)
  expect(pieces?.[0]).toEqual({ text: 'const', tone: 'keyword' })
})

test('knows ten languages and their short names, and leaves others alone', () => {
  const known = ['sh', 'css', 'diff', 'js', 'json', 'py', 'sql', 'ts', 'html', 'yml']
  expect(known.filter((name) => highlight('a', name) === null)).toEqual([])
  expect(highlight('a', 'cobol')).toBeNull()
  expect(highlight('a', '__proto__')).toBeNull()
})
