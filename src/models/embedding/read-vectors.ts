import { modelFailure } from '../failure.ts'

interface Expected {
  provider: string
  model: string
  host: string
  texts: number
  /** Null: any, if all have the same. */
  dimensions: number | null
}

/** One vector for each text, all of one length and of finite numbers; otherwise `model_failed`. A vector is a list of numbers, or base64. */
export function readVectors(list: readonly unknown[], expected: Expected): Float32Array[] {
  const { model, host, texts, dimensions } = expected
  const refuse = (problem: string) =>
    modelFailure('model_failed', `The embedding ${model} at ${host} ${problem}`, expected, { retryable: false })

  if (list.length !== texts) {
    throw refuse(`sent ${list.length} vectors for ${texts} texts. Check that server; another version may help.`)
  }
  let length: number | null = null
  return list.map((one) => {
    const vector = typeof one === 'string' ? fromBase64(one) : Array.isArray(one) ? fromNumbers(one) : null
    if (vector === null || vector.length === 0 || !vector.every(Number.isFinite)) {
      throw refuse('sent a vector that is not a list of numbers. Check that server and its model.')
    }
    if (dimensions !== null && vector.length !== dimensions) {
      throw refuse(
        `has ${vector.length} dimensions, and embedding.dimensions says ${dimensions}. The model cannot be shortened to that: write dimensions: ${vector.length}, or leave it out.`,
      )
    }
    length ??= vector.length
    if (vector.length !== length) {
      throw refuse(`sent vectors of ${length} and of ${vector.length} dimensions in one answer. Check that server.`)
    }
    return vector
  })
}

/** `Float32Array.from` would make a number of anything. */
const fromNumbers = (list: readonly unknown[]): Float32Array | null =>
  list.every((one) => typeof one === 'number') ? Float32Array.from(list) : null

/** 32-bit floats, the lowest byte first. */
function fromBase64(text: string): Float32Array | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true))
}
