import { describe, expect, test } from 'vitest'
import { terminalLine, terminalText } from './terminal-text.ts'

describe('text for the terminal', () => {
  test('writes out control characters, and keeps tabs, line breaks and every script', () => {
    expect(terminalText('a\x1b[2Jb\x9b31mc\r\nd\te\x07\x00 日本 é')).toBe(
      'a\\u{1b}[2Jb\\u{9b}31mc\nd\te\\u{7}\\u{0} 日本 é',
    )
  })

  test('shows a command in the order in which it runs', () => {
    expect(terminalText('rm \u202efdp.troper\u202c \u2066x\u2069 שלום')).toBe(
      'rm \\u{202e}fdp.troper\\u{202c} \\u{2066}x\\u{2069} שלום',
    )
  })

  test('stays harmless when a sequence arrives in two pieces', () => {
    expect(terminalText('\x1b') + terminalText(']0;title\x07')).toBe('\\u{1b}]0;title\\u{7}')
  })

  test('fits on one line, cut between characters', () => {
    expect(terminalLine('  one\n two   three ', 20)).toBe('one two three')
    expect(terminalLine('👍👍👍👍', 3)).toBe('👍👍…')
  })
})
