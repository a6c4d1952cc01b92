export const defaultHttpLimits = {
  connections: 5_000,
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 5_000,
  /** Size of a JSON body. If it can carry files, their size does not count. */
  bodyBytes: 10 * 1024 * 1024,
  /** Size of all bodies that are being read at the same time. */
  allBodiesBytes: 256 * 1024 * 1024,
  bodyGraceMs: 10_000,
  minBodyBytesPerSecond: 500,
  /** An upload has no total time limit, but in each of these windows it must arrive at this average speed. */
  uploadWindowMs: 30_000,
  minUploadBytesPerSecond: 8_000,
  /** Per user; null: no limit. */
  postsPerMinute: null as number | null,
  /** Per user; null: no limit. */
  streamsPerUser: null as number | null,
  /** Requests that one connection may have in work at once (pipelining). */
  pipelined: 32,
}

export type HttpLimits = typeof defaultHttpLimits
