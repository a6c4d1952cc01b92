import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { OutputStream } from './io.ts'
import { styleFor } from './style.ts'

const terminal = (): OutputStream => Object.assign(new PassThrough(), { isTTY: true })

describe('colours', () => {
  test('appear on a terminal', () => {
    expect(styleFor(terminal(), {}).red('no')).toBe('\x1b[31mno\x1b[39m')
  })

  test('do not appear in pipes, with NO_COLOR or on dumb terminals', () => {
    expect(styleFor(new PassThrough(), {}).red('no')).toBe('no')
    expect(styleFor(terminal(), { NO_COLOR: '1' }).red('no')).toBe('no')
    expect(styleFor(terminal(), { TERM: 'dumb' }).red('no')).toBe('no')
    expect(styleFor(terminal(), { NO_COLOR: '' }).bold('yes')).toBe('\x1b[1myes\x1b[22m')
  })
})
