/** How far readers may see in each session: not as far as an entry that is still on its way to the disk, nor beyond it. */
export interface Horizon {
  /** Readers may not see this seq, nor what follows it. */
  hold(sessionId: string, seq: number): void
  /** This seq is on disk now. */
  release(sessionId: string, seq: number): void
  /** The first seq that readers may not see yet; infinite when they may see everything. */
  of(sessionId: string): number
  /** Resolves when nothing of the session is on its way to the disk. */
  cleared(sessionId: string): Promise<void>
}

export function createHorizon(): Horizon {
  /** Seqs are given out and held in order. */
  const held = new Map<string, number[]>()
  const waiting = new Map<string, (() => void)[]>()

  return {
    hold(sessionId, seq) {
      const seqs = held.get(sessionId)
      if (seqs === undefined) held.set(sessionId, [seq])
      else seqs.push(seq)
    },
    release(sessionId, seq) {
      const seqs = (held.get(sessionId) ?? []).filter((other) => other !== seq)
      if (seqs.length > 0) return void held.set(sessionId, seqs)
      held.delete(sessionId)
      for (const resolve of waiting.get(sessionId) ?? []) resolve()
      waiting.delete(sessionId)
    },
    of(sessionId) {
      return held.get(sessionId)?.[0] ?? Number.POSITIVE_INFINITY
    },
    async cleared(sessionId) {
      if (!held.has(sessionId)) return
      await new Promise<void>((resolve) => waiting.set(sessionId, [...(waiting.get(sessionId) ?? []), resolve]))
    },
  }
}
