// What every store of knowledge refuses, in the same words.

import { ServerError } from '../domain/errors.ts'
import { MOST_PATH_BYTES } from './ports/knowledge.ts'
import { toStored } from './tables/stored-text.ts'

/** Somebody has removed it since the caller asked. */
export const unknownDocument = (path: string): ServerError =>
  new ServerError('conflict', `The index does not have the content of ${path} any more. Read the file again.`)

/** Postgres cannot index a longer one. */
export function refuseLongPath(path: string): void {
  if (path.length * 6 < MOST_PATH_BYTES || Buffer.byteLength(toStored(path)) <= MOST_PATH_BYTES) return
  throw new ServerError(
    'invalid_request',
    `The path of a file is too long for the index: ${path.slice(0, 100)}… Shorten it to ${MOST_PATH_BYTES} bytes.`,
  )
}

/** `kept` is null if there are none yet. Their floats say how many dimensions vectors have. */
export function refuseOtherDimensions(kept: number | null, vectors: readonly { floats: Float32Array }[]): void {
  const dimensions = kept ?? vectors[0]?.floats.length
  if (vectors.every(({ floats }) => floats.length === dimensions)) return
  throw new ServerError(
    'conflict',
    `The embedding gives vectors of other dimensions than the ${dimensions} that the index has. Clear the index, or use the same embedding.`,
  )
}
