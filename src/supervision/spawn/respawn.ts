import type { ProcessEnd } from '../../tools/process/process-groups.ts'

const MAX_RESPAWNS = 3
const DELAYS_MS = [1_000, 5_000, 25_000]

/**
 * How long to wait before a host is started again, or null if it is not: it ended by itself without an error, it could not be started at
 * all, or it has crashed too often. A host that was told to end is not asked about here.
 */
export function respawnDelay(end: ProcessEnd, respawns: number): number | null {
  const hasCrashed = end.kind === 'signal' || (end.kind === 'exit' && end.code !== 0)
  return hasCrashed && respawns < MAX_RESPAWNS ? (DELAYS_MS[respawns] ?? null) : null
}

/** What an agent is told when it starts again. It remembers nothing of the time before. */
export const respawnPrompt = (prompt: string): string =>
  `You worked on the task below and were interrupted. Call recover_state first and go on from there; do not repeat what is done.\n\n${prompt}`
