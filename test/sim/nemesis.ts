// Who brings the faults: each kind on its own clock, until the trial calms down.

import type { Cluster } from './cluster/cluster.ts'
import type { Faults } from './faults.ts'
import type { Kernel } from './kernel.ts'
import type { Wall } from './process.ts'
import type { Random } from './random.ts'
import type { Server } from './server.ts'

export interface NemesisDeps {
  kernel: Kernel
  random: Random
  faults: Faults
  server: Server
  /** Null: there is one process, on a disk of its own. */
  cluster: Cluster | null
  wall: Wall
  isCalm: () => boolean
}

const HOUR_MS = 3_600_000
const SWEEP_EVERY_MS = 900

export function unleash({ kernel, random, faults, server, cluster, wall, isCalm }: NemesisDeps): void {
  /** Again and again, with this mean time in between; null for never. */
  function every(label: string, meanMs: number | null, strike: (draw: Random) => void): void {
    if (meanMs === null) return
    const draw = random.fork(label)
    const next = () => {
      kernel.after(-Math.log(1 - draw.float()) * meanMs, () => {
        if (isCalm()) return
        strike(draw)
        next()
      })
    }
    next()
  }

  every('crash', faults.process.crashEveryMs, (draw) => {
    server.kill(draw.chance(faults.process.powerCuts) ? 'power cut' : 'killed')
  })
  every('restart', faults.process.restartEveryMs, () => server.restart())
  every('disk', faults.disk.fullEveryMs, (draw) => {
    server.fill(true)
    kernel.after(draw.float() * faults.disk.fullForMs, () => server.fill(false))
  })
  every('wall', faults.wallJumpEveryMs, (draw) => {
    wall.offset += draw.chance(0.5) ? HOUR_MS : -HOUR_MS
    kernel.trace(`the wall clock jumps to ${wall.offset}`)
  })
  every('sweep', SWEEP_EVERY_MS, () => server.sweep())
  if (cluster === null || faults.cluster === null) return
  every('pause', faults.cluster.pauseEveryMs, () => cluster.pause())
  every('away', faults.cluster.awayEveryMs, () => cluster.cut())
  every('listeners', faults.cluster.wakes.lostEveryMs, () => cluster.loseListeners())
}
