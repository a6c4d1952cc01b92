import { describe, expect, test } from 'vitest'
import { wrapText } from '../../domain/text/wrap-text.ts'
import { terminalLine, terminalText } from './terminal-text.ts'

describe('text for the terminal', () => {
  test('writes out control characters, and keeps tabs, line breaks and every script', () => {
    expect(terminalText('a\x1b[2Jb\x9b31mc\r\nd\te\x07\x00 日本 é')).toBe(
      'a<U+001B>[2Jb<U+009B>31mc\nd\te<U+0007><U+0000> 日本 é',
    )
  })

  test('shows a command in the order in which it runs', () => {
    expect(terminalText('rm \u202efdp.troper\u202c \u2066x\u2069 שלום')).toBe(
      'rm <U+202E>fdp.troper<U+202C> <U+2066>x<U+2069> שלום',
    )
  })

  test('stays harmless when a sequence arrives in two pieces', () => {
    expect(terminalText('\x1b') + terminalText(']0;title\x07')).toBe('<U+001B>]0;title<U+0007>')
  })

  test('fits on one line, cut between characters', () => {
    expect(terminalLine('  one\n two   three ', 20)).toBe('one two three')
    expect(terminalLine('👍👍👍👍', 3)).toBe('👍👍…')
  })
})

test('breaks text between words, and indents further lines', () => {
  expect(wrapText('12:30  one two three four', 14, 7)).toBe('12:30  one two\n       three\n       four')
  expect(wrapText('  short', 40, 2)).toBe('  short')
})

test('never breaks an address, however narrow the terminal', () => {
  expect(wrapText('go → http://127.0.0.1:8000/approvals', 12, 2)).toBe('go →\n  http://127.0.0.1:8000/approvals')
})
