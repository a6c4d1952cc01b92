export interface HttpLimits {
  connections: number
  headerBytes: number
  headersMs: number
  requestMs: number
  keepAliveMs: number
  /** Size of a JSON body. If it can carry files, their size does not count. */
  bodyBytes: number
  /** Size of all bodies that are being read at the same time. */
  allBodiesBytes: number
  bodyGraceMs: number
  minBodyBytesPerSecond: number
  /** An upload has no total time limit, but in each of these windows it must arrive at this average speed. */
  uploadWindowMs: number
  minUploadBytesPerSecond: number
  /** Per user; null: no limit. */
  postsPerMinute: number | null
  /** Per user; null: no limit. */
  streamsPerUser: number | null
  /** Requests that one connection may have in work at once (pipelining). */
  pipelined: number
}

export const defaultHttpLimits: HttpLimits = {
  connections: 5_000,
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 5_000,
  bodyBytes: 10 * 1024 * 1024,
  allBodiesBytes: 256 * 1024 * 1024,
  bodyGraceMs: 10_000,
  minBodyBytesPerSecond: 500,
  uploadWindowMs: 30_000,
  minUploadBytesPerSecond: 8_000,
  postsPerMinute: null,
  streamsPerUser: null,
  pipelined: 32,
}
