// Looks for a planted bug, seed by seed, until a checker that is meant to see it does.

import type { Mutant } from '../mutant.ts'
import { runTrial, type Trial } from '../trial.ts'

/** A bug that takes longer to be found is not found in practice. */
const SEEDS_PER_MUTANT = 300

export interface Catch {
  /** The first seed that shows the bug; null when none does. */
  seed: number | null
  tried: number
  /** What a checker said that is not meant to: worth a look, for the bug may have been found by accident. */
  unexpected: string[]
  trial: Trial | null
}

export async function hunt(mutant: Mutant, seeds = SEEDS_PER_MUTANT, from = mutant.seed ?? 1): Promise<Catch> {
  const unexpected = new Set<string>()
  for (let tried = 1; tried <= seeds; tried += 1) {
    const seed = from + tried - 1
    const trial = await runTrial({ seed, mutant })
    if (trial.findings.some(({ checker }) => mutant.foundBy.includes(checker))) {
      return { seed, tried, unexpected: [...unexpected], trial }
    }
    for (const { checker, message } of trial.findings) unexpected.add(`${checker}: ${message}`)
  }
  return { seed: null, tried: seeds, unexpected: [...unexpected], trial: null }
}
