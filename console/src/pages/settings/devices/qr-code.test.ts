import { expect, test } from 'vitest'
import { errorCorrection, type QrCode, qrCode } from './qr-code.ts'

const textOf = (code: QrCode) => code.map((row) => row.map((isDark) => (isDark ? '1' : '0')).join('')).join('\n')
async function digestOf(text: string): Promise<[size: number, digest: string] | null> {
  const code = qrCode(text)
  if (code === null) return null
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(textOf(code))))
  return [code.length, Array.from(digest.slice(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')]
}

test('the correction of the example in the standard comes out', () => {
  const data = [0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11]

  expect(errorCorrection(data, 10)).toEqual([0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55])
})

// A reader of QR codes (jsQR) has read these pictures, and those of every length up to the longest.
test('pictures that were read once stay the same', async () => {
  expect(await digestOf('hello')).toEqual([21, '52a7aa67e7296ede'])
  expect(await digestOf('http://localhost:8000/console#code=abc')).toEqual([29, '086b7c5e4677c321'])
  expect(await digestOf('y'.repeat(120))).toEqual([45, 'f4007e005ff93ebf'])
  expect(await digestOf('z'.repeat(200))).toEqual([57, '156c30f88b772893'])
})

test('213 bytes fit, and one more does not: letters may have several', async () => {
  expect(await digestOf('a'.repeat(213))).not.toBeNull()
  expect(await digestOf('a'.repeat(214))).toBeNull()
  expect(await digestOf(`${'a'.repeat(212)}ü`)).toBeNull()
})
