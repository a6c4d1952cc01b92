import { expect, test } from 'vitest'
import { createLastWords } from './last-words.ts'

const wordsOf = (...lines: string[]): string | null => {
  const words = createLastWords()
  for (const line of lines) words.add(line)
  return words.text()
}

test('are the last lines of stderr, as one line', () => {
  expect(wordsOf()).toBeNull()
  expect(wordsOf('', '  ')).toBeNull()
  expect(wordsOf('Error loading config.toml:', 'url is not supported for stdio')).toBe(
    'Error loading config.toml: / url is not supported for stdio',
  )
})

test('are few and short', () => {
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`)

  expect(wordsOf(...lines)).toBe(lines.slice(-8).join(' / '))
  expect(wordsOf('x'.repeat(10_000))).toBe(`${'x'.repeat(300)}…`)
})

test('show hidden characters, and no colours', () => {
  expect(wordsOf('\u001b[1;31merror\u001b[0m: \u202egnp.exe\u0007')).toBe('error: <U+202E>gnp.exe<U+0007>')
})

test('show no secrets', () => {
  expect(
    wordsOf(
      'API_KEY=abc123 "password": "hunter2"',
      'Authorization: Bearer abcdefgh12345678',
      'sent Bearer abcdefgh12345678 to https://ada:pa55@example.com/x',
      'invalid key sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa, max_tokens=5',
    ),
  ).toBe(
    'API_KEY=[masked] "password": [masked] / Authorization: [masked] / ' +
      'sent Bearer [masked] to https://[masked]@example.com/x / invalid key [masked], max_tokens=5',
  )
})
