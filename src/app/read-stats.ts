import { hostname } from 'node:os'
import { z } from 'zod'
import type { Clock } from '../domain/clock.ts'
import type { Engine } from '../engine/engine.ts'
import { createLoopDelay } from '../http/metrics/loop-delay.ts'
import type { HttpStats } from '../http/server/server.ts'
import { type ServerState, serverStates } from '../http/server-state.ts'
import type { Stats } from '../protocols/manage/stats/schema.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Store } from '../store/store.ts'
import { countNudges } from '../supervision/stalls/alerts.ts'

interface StatsParts {
  engine: Pick<Engine, 'stats'>
  store: Pick<Store, 'figures' | 'waits'>
  http: () => HttpStats
  clock: Clock
  replica: Pick<Replica, 'owner' | 'isShared' | 'board'>
  version: string
  state: ServerState
  /** Null: it listens on no port of its own. */
  port: number | null
}

const TOPIC = 'server'

/** What a server says about itself. One of another version may say something else: it is left out. */
const SaidSchema = z.object({
  machine: z.string(),
  port: z.int().nullable(),
  version: z.string(),
  state: z.enum(serverStates),
  uptimeSeconds: z.int(),
  runs: z.object({ active: z.int(), queued: z.int() }),
  streams: z.int(),
  connections: z.int(),
  rss: z.int(),
})
type Said = z.infer<typeof SaidSchema>

/** The figures of `GET /stats`. */
export function createReadStats(parts: StatsParts, undo: AsyncDisposableStack): () => Promise<Omit<Stats, 'at'>> {
  const { engine, store, http, clock, replica, version, state, port } = parts
  const delay = createLoopDelay(clock)
  undo.defer(() => delay.close())
  const startedAt = clock.mono()
  const machine = hostname()

  function ofThisServer(): Said {
    const { activeRuns, queuedRuns } = engine.stats()
    const { connections, streams } = http()
    const uptimeSeconds = Math.floor((clock.mono() - startedAt) / 1_000)
    const runs = { active: activeRuns, queued: queuedRuns }
    const { rss } = process.memoryUsage()
    return { machine, port, version, state: state.current, uptimeSeconds, runs, streams, connections, rss }
  }

  replica.board.say(TOPIC, ofThisServer)

  function ofAll(own: Said): Stats['replicas'] {
    if (!replica.isShared) return []
    const others = replica.board.heard(TOPIC).flatMap(({ replica: id, said }) => {
      const read = SaidSchema.safeParse(said)
      return read.success ? [shown(id, false, read.data)] : []
    })
    return [shown(replica.owner, true, own), ...others]
  }

  return async () => {
    const { bytes, walBytes, runs: stored, inbox } = await store.figures()
    const { sent, worked } = await countNudges(store.waits)
    const own = ofThisServer()
    const { uptimeSeconds, runs, streams, connections, rss } = own
    return {
      uptime_seconds: uptimeSeconds,
      runs: { ...runs, waiting: stored.waiting },
      streams,
      connections,
      memory: { rss, heap_used: process.memoryUsage().heapUsed },
      loop_delay_ms: delay.read(),
      store: { bytes, wal_bytes: walBytes },
      inbox,
      nudges: { sent, worked, share: sent === 0 ? null : worked / sent },
      replicas: ofAll(own),
    }
  }
}

const shown = (id: string, isThis: boolean, { uptimeSeconds, rss, ...rest }: Said): Stats['replicas'][number] => ({
  id,
  is_this: isThis,
  ...rest,
  uptime_seconds: uptimeSeconds,
  memory: { rss },
})
