/** Bytes of files under their hash, where several processes share a store. They appear whole or not at all. */
export interface SharedBlobs {
  /**
   * Resolves when the bytes are on disk. Does nothing if they are there already. `content` gives the bytes from their beginning, each time
   * it is called. Two processes may put the same bytes at once.
   */
  put(sha256: string, bytes: number, content: () => AsyncIterable<Uint8Array>): Promise<void>
  /** Gives nothing, or stops before the end, if there are no such bytes or somebody removes them meanwhile. */
  get(sha256: string): AsyncIterable<Uint8Array>
  has(sha256: string): Promise<boolean>
  /** All hashes, in groups. */
  hashes(): AsyncIterable<string[]>
  /** Removes the bytes if nobody has put them for `olderMs`. */
  remove(sha256: string, olderMs: number): Promise<boolean>
}
