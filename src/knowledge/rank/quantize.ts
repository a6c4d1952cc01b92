// A vector in three sizes: as it is, in 8 bits a dimension, in 1 bit a dimension. The small ones find what the large one compares.

import type { NewVector } from '../../store/ports/knowledge.ts'

/** `floats` has length 1, so the product of two is the cosine of their angle. A vector of zeros stays one. */
export function quantize(vector: Float32Array): Omit<NewVector, 'digest'> {
  const floats = normalised(vector)
  return { code: codeOf(floats), bytes: bytesOf(floats), floats }
}

function normalised(vector: Float32Array): Float32Array {
  // Divided first: the squares of very large or very small numbers are infinite or nothing.
  const most = largest(vector)
  if (most === 0) return new Float32Array(vector.length)
  let sum = 0
  for (const value of vector) sum += (value / most) ** 2
  const length = Math.sqrt(sum)
  return vector.map((value) => value / most / length)
}

/** The first dimension is the highest bit of the first byte. */
function codeOf(vector: Float32Array): Uint8Array {
  const code = new Uint8Array(Math.ceil(vector.length / 8))
  for (let i = 0; i < vector.length; i += 1) {
    if ((vector[i] ?? 0) > 0) code[i >> 3] = (code[i >> 3] ?? 0) | (0x80 >> (i & 7))
  }
  return code
}

/** Each vector has a scale of its own, so that its largest number is 127. A comparison divides by the length. */
function bytesOf(vector: Float32Array): Int8Array {
  const most = largest(vector)
  return Int8Array.from(vector, (value) => (most === 0 ? 0 : Math.round((value / most) * 127)))
}

function largest(vector: Float32Array): number {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}
