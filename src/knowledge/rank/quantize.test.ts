import { expect, test } from 'vitest'
import { quantize } from './quantize.ts'

test('a vector has length 1 in floats, 8 bits a dimension in bytes, and 1 in its code', () => {
  const { code, bytes, floats } = quantize(Float32Array.of(3, -4, 0, 0, 0, 0, 0, 0, 1e-9))

  expect(code).toEqual(Uint8Array.of(0b1000_0000, 0b1000_0000))
  expect(bytes).toEqual(Int8Array.of(95, -127, 0, 0, 0, 0, 0, 0, 0))
  expect([...floats.slice(0, 3)].map((one) => Number(one.toFixed(6)))).toEqual([0.6, -0.8, 0])
})

test('numbers of any size keep their direction', () => {
  for (const scale of [1e-38, 1, 1e38]) {
    const { floats } = quantize(Float32Array.of(3 * scale, 3 * scale))
    expect([...floats].map((one) => Number(one.toFixed(2)))).toEqual([0.71, 0.71])
  }
})

test('a vector of zeros stays one', () => {
  expect(quantize(new Float32Array(3))).toEqual({
    code: Uint8Array.of(0),
    bytes: new Int8Array(3),
    floats: new Float32Array(3),
  })
})
