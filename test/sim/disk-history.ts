// What a disk tells about the past: every entry as it was written, and what a power cut took.

import { type MemoryDisk, replay } from './memory/memory-disk.ts'

/** By session, the seqs that are in the log before and not after. */
export function lostSeqs(before: MemoryDisk, after: MemoryDisk): Map<string, Set<number>> {
  const left = replay(after).sessions
  const lost = new Map<string, Set<number>>()
  for (const [id, { entries }] of replay(withoutCompaction(before)).sessions) {
    const kept = new Set(left.get(id)?.entries.flatMap(({ seq, spans }) => [seq, ...(spans ?? []).map(([one]) => one)]))
    const gone = entries.map(({ seq }) => seq).filter((seq) => !kept.has(seq))
    if (gone.length > 0) lost.set(id, new Set(gone))
  }
  return lost
}

/** The same disk as if nothing had ever been compacted: every entry as it was written. */
export function withoutCompaction(disk: MemoryDisk): MemoryDisk {
  const batches = disk.batches.map((batch) =>
    batch === 'opened' ? batch : batch.filter((command) => command.type !== 'compact_session'),
  )
  return { ...disk, batches }
}
