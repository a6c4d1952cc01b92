import { expect, test } from 'vitest'
import { ago } from '../../supervision/records/record-words.ts'
import { file, oneLine, size } from './answer.ts'

test('foreign words become one line of limited length in which nothing hides', () => {
  expect(oneLine('a\n\n  b\tc', 20)).toBe('a b c')
  expect(oneLine('x\u202ey', 20)).toBe('x<U+202E>y')
  expect(oneLine('<!channel> `x`', 20)).toBe('<!channel> `x`')
  expect(oneLine('🙂'.repeat(30), 10)).toBe(`${'🙂'.repeat(9)}…`)
  expect(oneLine('a'.repeat(40_000), 10)).toBe('aaaaaaaaa…')
  expect(oneLine(`${' '.repeat(1_000)}a`, 10)).toBe('…')
})

test('a file is bounded, and says what is missing', () => {
  expect(file('a.txt', 'text')).toEqual({ name: 'a.txt', content: 'text', snippetType: 'text' })
  const { content } = file('a.txt', 'x'.repeat(500_007))
  expect([content.length, content.endsWith('x\n… 7 more characters')]).toEqual([500_020, true])
})

test('times and sizes are said shortly', () => {
  const minute = 60_000
  expect([0, 59_999, minute, 59 * minute, 60 * minute, 47 * 60 * minute, 48 * 60 * minute].map(ago)).toEqual([
    ...['just now', 'just now', '1 min ago', '59 min ago', '1 h ago', '47 h ago', '2 days ago'],
  ])
  expect([0, 1_023, 1_024, 1_536, 1_048_576].map(size)).toEqual(['0 B', '1023 B', '1.0 KB', '1.5 KB', '1.0 MB'])
})
