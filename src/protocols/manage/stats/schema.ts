import { z } from 'zod'
import { serverStates } from '../../../http/server-state.ts'

const count = z.int().min(0)

export const StatsSchema = z
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
  .meta({
    id: 'Stats',
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
  })
export type Stats = z.output<typeof StatsSchema>
