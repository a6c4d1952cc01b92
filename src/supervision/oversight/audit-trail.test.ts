import { describe, expect, onTestFinished, test } from 'vitest'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { openEngine } from '../../engine/testing/open-engine.ts'
import { createAuditTrail } from './audit-trail.ts'

const HOUR_MS = 3_600_000
const eve: Caller = { user: 'eve', role: 'operator' }

async function openTrail(records: readonly Partial<AuditRecord>[]) {
  const { store, log, close } = openEngine()
  onTestFinished(close)
  let now = 1_000 * HOUR_MS
  const record = { at: 0, kind: 'decision', by: 'ann', session: null, run: null, agent: 'a', tool: 't' } as const
  const audit = records.map((one): AuditRecord => ({ ...record, call: null, details: {}, ...one }))
  if (audit.length > 0) await log.commit({ type: 'add_audit', audit })
  const trail = createAuditTrail({
    reads: store.audit,
    log,
    clock: { now: () => now, soon: (fire) => void setImmediate(fire) },
  })
  return {
    trail,
    store,
    later(ms: number) {
      now += ms
    },
  }
}

const seqs = ({ entries, next }: Awaited<ReturnType<ReturnType<typeof createAuditTrail>['list']>>) => [
  entries.map(({ seq }) => seq),
  next,
]

describe('the audit trail', () => {
  test('is read page by page, newest first, and who reads it is on record once an hour', async () => {
    const { trail, store, later } = await openTrail([{}, {}, {}])

    // The fourth entry is about this reader.
    expect(seqs(await trail.list(eve, { limit: 3 }))).toEqual([[4, 3, 2], 2])
    expect(seqs(await trail.list(eve, { limit: 3, before: 2 }))).toEqual([[1], null])
    later(HOUR_MS)
    await trail.list(eve, { limit: 1 })
    const [newest, , , ...others] = await store.audit.newest(null, 10)
    expect(JSON.parse(newest?.text ?? '')).toMatchObject({
      kind: 'operator_read',
      by: 'eve',
      details: { what: 'audit' },
    })
    expect(others).toHaveLength(2)
  })

  test('finds entries by kind, person, session and time', async () => {
    const { trail } = await openTrail([
      { at: 10, session: 's1' },
      { at: 20, by: 'bob' },
      { at: 30, kind: 'grant_made', by: 'bob' },
    ])
    const find = async (query: object) => seqs(await trail.list(eve, { limit: 10, ...query }))

    expect(await find({ kinds: ['grant_made', 'nothing'] })).toEqual([[3], null])
    expect(await find({ by: 'bob' })).toEqual([[3, 2], null])
    expect(await find({ session: 's1' })).toEqual([[1], null])
    expect(await find({ since: 20, until: 29 })).toEqual([[2], null])
    expect(await find({ until: 5 })).toEqual([[], null])
  })

  test('finds old entries without reading all newer ones, and ends where all are too old', async () => {
    const day = 24 * HOUR_MS
    const { trail, store } = await openTrail(Array.from({ length: 3_000 }, (_, n) => ({ at: n * day })))
    const reads: number[] = []
    const counted = createAuditTrail({
      reads: {
        entries: store.audit.entries,
        async newest(n, limit) {
          const found = await store.audit.newest(n, limit)
          reads.push(found.length)
          return found
        },
      },
      log: { commit: async () => ({ ok: true, firstSeq: 0 }) as never },
      clock: { now: () => 0, soon: (fire) => void setImmediate(fire) },
    })

    expect(seqs(await counted.list(eve, { limit: 10, since: 100 * day, until: 102 * day }))).toEqual([
      [103, 102, 101],
      null,
    ])
    expect(reads).toEqual([1, 104])
    expect(seqs(await trail.list(eve, { limit: 1, by: 'nobody' }))).toEqual([[], null])
  })

  test('shows an entry that somebody damaged', async () => {
    const { store } = await openTrail([])
    const trail = createAuditTrail({
      reads: { ...store.audit, newest: async () => [{ chain: 'main', n: 7, text: '{"at"', hash: 'h' }] },
      log: { commit: async () => ({ ok: true, firstSeq: 0 }) as never },
      clock: { now: () => 0, soon: (fire) => fire() },
    })

    expect(await trail.list(eve, { limit: 10 })).toEqual({
      entries: [{ seq: 7, hash: 'h', record: { details: { text: '{"at"' } } }],
      next: null,
    })
  })
})
