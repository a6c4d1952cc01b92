// What goes wrong between replicas and the database that they share.

import type { Random } from '../random.ts'

export interface ClusterFaults {
  replicas: number
  /** A replica stands still: mean time between, and how long at most. */
  pauseEveryMs: number | null
  pauseForMs: number
  /** The database goes away and comes back, or a standby takes its place. */
  awayEveryMs: number | null
  awayForMs: number
  /** A commit takes so long at most. */
  commitMs: number
  /** Probability that the connection breaks after a commit: the store has to find out what became of it. */
  lostAnswers: number
  wakes: {
    dropped: number
    twice: number
    /** Longest way. */
    ms: number
    /** Mean time between two losses of the connection that wakes come through. */
    lostEveryMs: number | null
  }
  /** How far the wall clocks of replicas are apart, and how fast they drift. */
  clockMs: number
  drift: number
}

export function drawClusterFaults(random: Random): ClusterFaults {
  return {
    replicas: random.pick([1, 2, 2, 3, 3]),
    pauseEveryMs: random.chance(0.4) ? null : random.between(2_000, 12_000),
    pauseForMs: random.pick([300, 4_000, 14_000, 60_000]),
    awayEveryMs: random.chance(0.5) ? null : random.between(3_000, 15_000),
    awayForMs: random.pick([100, 1_500, 6_000, 14_000]),
    commitMs: random.pick([1, 5, 20]),
    lostAnswers: random.chance(0.5) ? 0 : random.float() * 0.05,
    wakes: {
      dropped: random.pick([0, 0, 0.2, 0.7, 1]),
      twice: random.pick([0, 0.3]),
      ms: random.pick([1, 5, 200, 1_500]),
      lostEveryMs: random.chance(0.6) ? null : random.between(500, 5_000),
    },
    clockMs: random.pick([0, 100, 3_000]),
    drift: random.pick([0, 0.0001, 0.01]),
  }
}

/** As in `faultKinds`. */
export const clusterFaultKinds: Readonly<Record<string, (faults: ClusterFaults) => void>> = {
  pauses: (faults) => {
    faults.pauseEveryMs = null
  },
  'database-away': (faults) => {
    faults.awayEveryMs = null
  },
  'lost-commit-answers': (faults) => {
    faults.lostAnswers = 0
  },
  wakes: (faults) => {
    faults.wakes = { dropped: 0, twice: 0, ms: 1, lostEveryMs: null }
  },
  clocks: (faults) => {
    Object.assign(faults, { clockMs: 0, drift: 0 })
  },
}
