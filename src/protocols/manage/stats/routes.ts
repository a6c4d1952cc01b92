// How busy the server is, for operators.

import { type Clock, isoTime } from '../../../domain/clock.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { ServerStateName } from '../../../http/server-state.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { type Stats, StatsSchema } from './schema.ts'

export interface StatsRoutesDeps {
  clock: Pick<Clock, 'now'>
  /** Everything is read from memory or by an index. */
  readStats(): Promise<ServerStats>
}

export interface ServerStats {
  uptimeSeconds: number
  runs: { active: number; queued: number; waiting: number }
  streams: number
  connections: number
  memory: { rss: number; heapUsed: number }
  loopDelayMs: { p50: number; p99: number; max: number }
  store: { bytes: number; walBytes: number }
  /** What waits for a person. */
  inbox: number
  /** Nudges of silent agents, of the last alerts. `worked`: the agent came back after it. */
  nudges: { sent: number; worked: number }
  /** The servers that share the store, this one first. Empty: it has the store for itself. */
  replicas: readonly ReplicaStats[]
}

/** What a server says about itself to those that share its store. */
export interface ReplicaStats {
  /** Name of the process, new with every start. */
  id: string
  /** The server that was asked. */
  isThis: boolean
  machine: string
  /** Null: it listens on no port of its own. */
  port: number | null
  version: string
  state: ServerStateName
  uptimeSeconds: number
  runs: { active: number; queued: number }
  streams: number
  connections: number
  /** Resident memory in bytes. */
  rss: number
}

export function createStatsRoutes({ clock, readStats }: StatsRoutesDeps): Route[] {
  async function show(_request: Request, reply: Reply): Promise<void> {
    const { uptimeSeconds, runs, streams, connections, memory, loopDelayMs, store, inbox, nudges, replicas } =
      await readStats()
    const body: Stats = {
      at: isoTime(clock.now()),
      uptime_seconds: uptimeSeconds,
      runs,
      streams,
      connections,
      memory: { rss: memory.rss, heap_used: memory.heapUsed },
      loop_delay_ms: loopDelayMs,
      store: { bytes: store.bytes, wal_bytes: store.walBytes },
      inbox,
      nudges: { ...nudges, share: nudges.sent === 0 ? null : nudges.worked / nudges.sent },
      replicas: replicas.map(({ isThis, uptimeSeconds, rss, id, ...rest }) => ({
        id,
        is_this: isThis,
        ...rest,
        uptime_seconds: uptimeSeconds,
        memory: { rss },
      })),
    }
    reply.json(200, body)
  }

  return [
    {
      ...routeHeads(null, 'operator').get,
      path: '/stats',
      summary: 'How busy the server is',
      describe: () => ({
        tag: 'Operations',
        description:
          'A few figures at one moment, cheap enough to ask for every few seconds. `GET /metrics` has more, for Prometheus.',
        responses: { 200: answer('The figures.', StatsSchema) },
        errors: ['storage_failed'],
      }),
      handle: show,
    },
  ]
}
