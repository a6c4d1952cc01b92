/**
 * Keeps a sweep from removing bytes that an upload counts on. From the moment when an upload puts its bytes in place until the
 * sweep can find its record in the store, only this knows that they are wanted.
 */
export interface Claims {
  /** Waits until nobody removes them; until it is disposed of they are not removed. */
  claim(sha256: string): Promise<Disposable>
  /** One at a time. */
  sweeping(work: (removeUnclaimed: RemoveUnclaimed) => Promise<void>): Promise<void>
}

/** Calls `remove`, unless the bytes are claimed or were at any time since the sweep began: then false. */
export type RemoveUnclaimed = (sha256: string, remove: () => Promise<boolean>) => Promise<boolean>

export function createClaims(): Claims {
  const held = new Map<string, number>()
  const removing = new Map<string, Promise<unknown>>()
  let claimedMeanwhile: Set<string> | null = null

  return {
    async claim(sha256) {
      for (let under = removing.get(sha256); under !== undefined; under = removing.get(sha256)) await under
      held.set(sha256, (held.get(sha256) ?? 0) + 1)
      claimedMeanwhile?.add(sha256)
      return {
        [Symbol.dispose]() {
          const left = (held.get(sha256) ?? 0) - 1
          if (left > 0) held.set(sha256, left)
          else held.delete(sha256)
        },
      }
    },

    async sweeping(work) {
      const claimed = new Set(held.keys())
      claimedMeanwhile = claimed
      try {
        await work(async (sha256, remove) => {
          if (claimed.has(sha256)) return false
          const removal = remove()
          // Who waits for it wants to know that it is over, not how.
          const over = removal.then(
            () => removing.delete(sha256),
            () => removing.delete(sha256),
          )
          removing.set(sha256, over)
          return await removal
        })
      } finally {
        claimedMeanwhile = null
      }
    },
  }
}
