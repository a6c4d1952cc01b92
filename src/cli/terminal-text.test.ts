import { describe, expect, test } from 'vitest'
import { terminalLine, terminalText } from './terminal-text.ts'

describe('text for the terminal', () => {
  test('loses what could steer the terminal and keeps tabs, line breaks and every script', () => {
    expect(terminalText('a\x1b[2Jb\x9b31mc\r\nd\te\x07\x00 日本 é')).toBe('a[2Jb31mc\nd\te 日本 é')
  })

  test('shows a command in the order in which it is run', () => {
    expect(terminalText('rm \u202efdp.troper\u202c \u2066x\u2069 שלום')).toBe('rm fdp.troper x שלום')
  })

  test('stays harmless when a sequence arrives in two pieces', () => {
    expect(terminalText('\x1b') + terminalText(']0;title\x07')).toBe(']0;title')
  })

  test('fits on one line and is cut between characters', () => {
    expect(terminalLine('  one\n two   three ', 20)).toBe('one two three')
    expect(terminalLine('👍👍👍👍', 3)).toBe('👍👍…')
  })
})
