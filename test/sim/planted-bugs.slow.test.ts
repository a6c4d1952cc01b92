// The simulator is only worth its seeds if it finds bugs: those that are planted here, and those that it has found before.

import { describe, expect, test } from 'vitest'
import { hunt } from './mutants/hunt.ts'
import { mutants } from './mutants/mutants.ts'
import regressions from './regressions.json' with { type: 'json' }
import { describeFailure } from './report.ts'
import { runTrial } from './trial.ts'

/** Trials have their own clock. This is for one that hangs, and far from what a busy machine needs. */
const PATIENCE_MS = 600_000

describe('the fault simulator', () => {
  test.each(regressions)(
    'seed $seed stays sound: $was',
    { timeout: PATIENCE_MS },
    async ({ seed, replicas = false }) => {
      const trial = await runTrial({ seed, replicas })
      expect(trial.findings.length, describeFailure(trial, { withLines: true })).toBe(0)
    },
  )

  test.each(mutants)('catches the planted bug $name: $bug', { timeout: PATIENCE_MS }, async (mutant) => {
    const { seed, tried, unexpected } = await hunt(mutant)
    expect({ seed, tried, unexpected }).toEqual({ seed: expect.any(Number), tried, unexpected })
  })
})
