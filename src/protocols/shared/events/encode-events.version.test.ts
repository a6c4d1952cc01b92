import { describe, expect, test } from 'vitest'
import { readerOf } from './encode-events.ts'

describe('the protocol version of a reader', () => {
  test.each([
    [undefined, '0.x'],
    ['0.9', '0.x'],
    ['1.0', '1.x'],
    ['1.7', '1.x'],
    ['1.10', '1.x'],
    ['1', '1.x'],
    ['', '1.x'],
    ['banana', '1.x'],
    ['1.0.0', '1.x'],
  ] as const)('%j is read as %s', (version, reader) => {
    expect(readerOf(version)).toBe(reader)
  })

  test.each(['2.0', '10.0'])('%j is refused', (version) => {
    expect(() => readerOf(version)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [
          {
            pointer: '/protocolVersion',
            detail: 'This server speaks AG-UI 1.0 and reads 0.x; send "1.0" or leave it out.',
          },
        ],
      }),
    )
  })
})
