import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import { createChainCheck } from '../../../store/chain-check.ts'
import { createAuditTrail } from '../../../supervision/oversight/audit-trail.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createAuditRoutes } from './routes.ts'

const openAudit = () =>
  openDoors({}, ({ store, log, clock }) =>
    createAuditRoutes({
      trail: createAuditTrail({ reads: store.audit, log, clock }),
      chain: createChainCheck({ reads: store.audit, clock }).state,
    }),
  )

const SESSION = '0192f3a1-7b2c-7def-8abc-0123456789ab'

const record = (values: Partial<AuditRecord> = {}): AuditRecord => ({
  at: Date.UTC(2026, 10, 15, 9),
  kind: 'decision',
  by: 'ann',
  session: SESSION,
  run: null,
  agent: 'clerk',
  tool: 'pay\u202e',
  call: 'c1',
  details: { decision: 'approve', 'odd\u200b': 'a\nb', n: 1 },
  ...values,
})

describe('GET /audit', () => {
  test('shows entries newest first, page by page, with hidden characters marked', async () => {
    await using doors = await openAudit()
    await doors.log.commit({ type: 'add_audit', audit: [record(), record({ by: 'bob', session: null })] })

    const first = await doors.get('/audit?limit=1&kind=decision', asOperator)
    expect(first.headers.get('link')).toBe('</audit?limit=1&kind=decision&before=2>; rel="next"')
    expect(await first.json()).toMatchObject({ entries: [{ seq: 2, by: 'bob', session_id: null }] })
    const second = await doors.get('/audit?limit=1&kind=decision&before=2', asOperator)
    expect([second.headers.get('link'), await second.json()]).toEqual([
      null,
      {
        entries: [
          {
            seq: 1,
            at: '2026-11-15T09:00:00.000Z',
            kind: 'decision',
            by: 'ann',
            session_id: SESSION,
            run_id: null,
            agent: 'clerk',
            tool: 'pay<U+202E>',
            call_id: 'c1',
            details: { decision: 'approve', 'odd<U+200B>': 'a\\nb', n: 1 },
            hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
        ],
      },
    ])
  })

  test('finds by person, session and time', async () => {
    await using doors = await openAudit()
    const later = Date.UTC(2026, 10, 15, 10)
    await doors.log.commit({ type: 'add_audit', audit: [record(), record({ by: 'bob', session: null, at: later })] })
    const seqs = async (query: string) => {
      const { entries } = (await (await doors.get(`/audit?kind=decision&${query}`, asOperator)).json()) as {
        entries: { seq: number }[]
      }
      return entries.map(({ seq }) => seq)
    }

    expect(await seqs('by=bob')).toEqual([2])
    expect(await seqs(`session=${SESSION}`)).toEqual([1])
    expect(await seqs('since=2026-11-15T09:30:00Z')).toEqual([2])
    expect(await seqs('until=2026-11-15T10:30:00%2B01:00')).toEqual([1])
    expect(await seqs('since=2026-11-16')).toEqual([])
  })

  test.each([
    ['limit=501', 'limit'],
    ['before=0', 'before'],
    ['before=x', 'before'],
    ['session=x', 'session'],
    ['since=yesterday', 'since'],
    ['until=2026-13-01', 'until'],
  ])('refuses %s', async (query, pointer) => {
    await using doors = await openAudit()
    const response = await doors.get(`/audit?${query}`, asOperator)
    expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer }] }])
  })

  test('is for operators', async () => {
    await using doors = await openAudit()
    for (const path of ['/audit', '/audit/chain']) {
      expect(await refusalOf(await doors.get(path, asAda))).toEqual({ status: 403, code: 'forbidden' })
    }
  })
})

test('GET /audit/chain says that the trail is whole', async () => {
  await using doors = await openAudit()
  await doors.log.commit({ type: 'add_audit', audit: [record(), record()] })
  const [head] = await doors.store.audit.newest(null, 1)

  expect(await (await doors.get('/audit/chain', asOperator)).json()).toEqual({
    status: 'whole',
    checked: 2,
    entries: 2,
    head: { seq: 2, hash: head?.hash },
    broken_at: null,
    problem: null,
    checked_at: expect.any(String),
    chains: [{ chain: 'main', entries: 2, head: head?.hash, is_whole: true }],
    last_tie: null,
  })
})
