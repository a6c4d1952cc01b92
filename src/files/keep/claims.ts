/**
 * Keeps a sweep from removing the bytes of an upload. An upload claims its bytes before it puts them in place, and until its record
 * is in the store only the claim says that they are needed.
 */
export interface Claims {
  /** Waits for a removal that is under way. Until the claim is disposed of, the bytes are not removed. */
  claim(sha256: string): Promise<Disposable>
  /** Only one sweep may run at a time. */
  sweeping(work: (removeUnclaimed: RemoveUnclaimed) => Promise<void>): Promise<void>
}

/** Calls `remove` unless the bytes were claimed at any time since the sweep began. Then it returns false. */
export type RemoveUnclaimed = (sha256: string, remove: () => Promise<boolean>) => Promise<boolean>

export function createClaims(): Claims {
  const held = new Map<string, number>()
  const removing = new Map<string, Promise<unknown>>()
  let claimedSinceSweep: Set<string> | null = null

  return {
    async claim(sha256) {
      for (let under = removing.get(sha256); under !== undefined; under = removing.get(sha256)) await under
      held.set(sha256, (held.get(sha256) ?? 0) + 1)
      claimedSinceSweep?.add(sha256)
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
      claimedSinceSweep = claimed
      try {
        await work(async (sha256, remove) => {
          if (claimed.has(sha256)) return false
          const removal = remove()
          // A claim that waits needs to know that the removal is over, not whether it worked.
          const over = removal.then(
            () => removing.delete(sha256),
            () => removing.delete(sha256),
          )
          removing.set(sha256, over)
          return await removal
        })
      } finally {
        claimedSinceSweep = null
      }
    },
  }
}
