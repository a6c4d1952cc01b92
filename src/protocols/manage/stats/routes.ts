// How busy the server is, for operators.

import { z } from 'zod'
import { type Clock, isoTime } from '../../../domain/clock.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { type ServerStateName, serverStates } from '../../../http/server-state.ts'

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

const count = z.int().min(0)

const StatsSchema = z
  .strictObject({
    at: z.iso.datetime(),
    uptime_seconds: count,
    runs: z.strictObject({
      active: count.describe('Runs that execute.'),
      queued: count.describe('Runs that wait for their session.'),
      waiting: count.describe('Runs that wait for a person or a client.'),
    }),
    streams: count,
    connections: count,
    memory: z.strictObject({ rss: count, heap_used: count }).describe('In bytes.'),
    loop_delay_ms: z
      .strictObject({ p50: z.number(), p99: z.number(), max: z.number() })
      .describe('How late the event loop was since the last request for these figures. Zeros the first time.'),
    store: z.strictObject({ bytes: count, wal_bytes: count }),
    inbox: count.describe('What waits for a person.'),
    nudges: z
      .strictObject({
        sent: count,
        worked: count.describe('Nudges after which the agent was heard from again.'),
        share: z.number().min(0).max(1).nullable().describe('`worked` of `sent`. Null: none was sent.'),
      })
      .describe('Nudges of silent agents, in the last 1,000 alerts.'),
    replicas: z
      .array(
        z.strictObject({
          id: z.string().describe('Name of the process, new with every start.'),
          is_this: z.boolean().describe('The server that answered. The figures outside of this list are its own.'),
          machine: z.string(),
          port: count.nullable().describe('Null: it listens on no port of its own.'),
          version: z.string(),
          state: z.enum(serverStates),
          uptime_seconds: count,
          runs: z.strictObject({ active: count, queued: count }),
          streams: count,
          connections: count,
          memory: z.strictObject({ rss: count }),
        }),
      )
      .describe(
        'The servers that share the store, the one that answered first. The others are as they were a few seconds ago. ' +
          'Empty: this server has its store for itself.',
      ),
  })
  .meta({ id: 'Stats' })

const describe: RouteDescription = {
  tag: 'Operations',
  description:
    'A few figures at one moment, cheap enough to ask for every few seconds. `GET /metrics` has more, for Prometheus.',
  responses: {
    200: {
      description: 'The figures.',
      content: {
        'application/json': {
          schema: StatsSchema,
          example: {
            at: '2026-11-15T09:00:00.000Z',
            uptime_seconds: 86_400,
            runs: { active: 2, queued: 0, waiting: 1 },
            streams: 3,
            connections: 5,
            memory: { rss: 120_000_000, heap_used: 40_000_000 },
            loop_delay_ms: { p50: 0.1, p99: 2.3, max: 11.8 },
            store: { bytes: 1_048_576, wal_bytes: 32_768 },
            inbox: 1,
            nudges: { sent: 4, worked: 3, share: 0.75 },
            replicas: [],
          },
        },
      },
    },
  },
  errors: ['storage_failed'],
}

export function createStatsRoutes({ clock, readStats }: StatsRoutesDeps): Route[] {
  async function show(_request: Request, reply: Reply): Promise<void> {
    const { uptimeSeconds, runs, streams, connections, memory, loopDelayMs, store, inbox, nudges, replicas } =
      await readStats()
    reply.json(200, {
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
        ...{ id, is_this: isThis, ...rest, uptime_seconds: uptimeSeconds, memory: { rss } },
      })),
    })
  }

  return [
    {
      method: 'GET',
      path: '/stats',
      door: null,
      role: 'operator',
      body: 'none',
      summary: 'How busy the server is',
      describe,
      handle: show,
    },
  ]
}
