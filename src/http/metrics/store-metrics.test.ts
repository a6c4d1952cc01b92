import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createMetrics, metricsText } from './metrics.ts'
import { measureCommits, registerStoreMetrics } from './store-metrics.ts'

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

describe('the figures of a store', () => {
  test('are read for each scrape', async () => {
    const clock = createManualClock()
    const metrics = createMetrics()
    const figures = {
      bytes: 4_096,
      walBytes: 10,
      runs: { queued: 1, running: 2, waiting: 3 },
      waits: { approval: { count: 2, oldestAt: clock.now() - 90_000 } },
      leases: [clock.now() + 1, clock.now() - 1, clock.now() + 9_000],
      outbox: { 'webhook:pager': 7 },
      connections: { open: 5, idle: 1, waiting: 2, most: 10, reconnects: 3 },
    }
    registerStoreMetrics(metrics, async () => figures, clock)

    expect(linesOf(metricsText(await metrics.families()))).toEqual([
      'quarterdeck_store_up 1',
      'quarterdeck_store_bytes 4096',
      'quarterdeck_store_wal_bytes 10',
      'quarterdeck_runs{status="queued"} 1',
      'quarterdeck_runs{status="running"} 2',
      'quarterdeck_runs{status="waiting"} 3',
      'quarterdeck_waits_pending{kind="approval"} 2',
      'quarterdeck_waits_pending{kind="client_call"} 0',
      'quarterdeck_waits_pending{kind="prompt"} 0',
      'quarterdeck_waits_pending{kind="standby"} 0',
      'quarterdeck_waits_pending{kind="alert"} 0',
      'quarterdeck_waits_oldest_seconds{kind="approval"} 90',
      'quarterdeck_waits_oldest_seconds{kind="client_call"} 0',
      'quarterdeck_waits_oldest_seconds{kind="prompt"} 0',
      'quarterdeck_waits_oldest_seconds{kind="standby"} 0',
      'quarterdeck_waits_oldest_seconds{kind="alert"} 0',
      'quarterdeck_leases{state="live"} 2',
      'quarterdeck_leases{state="expired"} 1',
      'quarterdeck_outbox_items{channel="webhook:pager"} 7',
      'quarterdeck_store_connections{state="open"} 5',
      'quarterdeck_store_connections{state="idle"} 1',
      'quarterdeck_store_connections{state="waiting"} 2',
      'quarterdeck_store_connections{state="most"} 10',
      'quarterdeck_store_reconnects_total 3',
    ])
  })

  test.each([
    ['fails', () => Promise.reject(new ServerError('storage_failed', 'The store is gone.'))],
    ['never answers', () => new Promise<never>(() => {})],
  ])('are left out when the store %s, and the scrape goes on', async (_, read) => {
    const clock = createManualClock()
    const metrics = createMetrics()
    registerStoreMetrics(metrics, read, clock)
    const families = metrics.families()
    await clock.advance(2_000)

    expect(linesOf(metricsText(await families))).toEqual(['quarterdeck_store_up 0'])
  })
})

test('a commit is measured until it is written, and until it is on disk if it has to be', async () => {
  const clock = createManualClock()
  const metrics = createMetrics()
  const synced = Promise.withResolvers<void>()
  const answers = [
    { synced: synced.promise },
    { synced: Promise.resolve() },
    new ServerError('storage_full', 'The disk is full.'),
  ]
  const commit = measureCommits(
    async (_: readonly string[]) => {
      await clock.advance(3)
      const answer = answers.shift()
      if (answer === undefined || answer instanceof ServerError) throw answer
      return answer
    },
    (command) => command === 'fact',
    { metrics, clock },
  )

  await commit(['text', 'fact'])
  await commit(['text'])
  await clock.advance(100)
  synced.resolve()
  await clock.advance(0)
  await expect(commit(['fact'])).rejects.toMatchObject({ code: 'storage_full' })

  expect(linesOf(metricsText(await metrics.families())).filter((line) => !line.includes('_bucket'))).toEqual([
    'quarterdeck_store_commit_seconds_sum{until="written"} 0.006',
    'quarterdeck_store_commit_seconds_count{until="written"} 2',
    'quarterdeck_store_commit_seconds_sum{until="synced"} 0.106',
    'quarterdeck_store_commit_seconds_count{until="synced"} 1',
    'quarterdeck_store_commands_total 3',
    'quarterdeck_store_commit_failures_total{code="storage_full"} 1',
  ])
})
