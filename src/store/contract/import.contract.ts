import { describe, expect, test } from 'vitest'
import { type AuditEntry, importedMain, MAIN_CHAIN } from '../../domain/supervision/audit.ts'
import {
  agentsProposalId,
  type Checkpoint,
  type Instruction,
  type PolicyPin,
  type Proposal,
} from '../../domain/supervision/supervision.ts'
import { emptyChain, nextEntry } from '../audit-chain.ts'
import type { UsageRow } from '../ports/usage.ts'
import {
  askedElsewhere,
  auditors,
  beforeAndAfter,
  commit,
  done,
  NOW,
  newApproval,
  newAudit,
  newFile,
  newGrant,
  newId,
  newRun,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
  supervisionSample,
} from './samples.contract.ts'

const newInstruction = (values: Partial<Instruction> = {}): Instruction => ({
  id: newId(),
  kind: 'steering',
  sessionId: null,
  owner: 'ann',
  workspaceRoot: '/srv/shop',
  text: 'Tests first ü.',
  source: 'ada via ctl',
  createdAt: NOW,
  deliveredAt: NOW + 1,
  ...values,
})

const newCheckpoint = (sessionId: string): Checkpoint => ({
  id: newId(),
  sessionId,
  owner: 'ann',
  label: null,
  workspaceRoot: '/srv/shop',
  manifest: 'ab'.repeat(32),
  files: 2,
  bytes: 10,
  hasContents: true,
  sessionState: { status: 'active', mode: 'hybrid', title: null, lastTool: null },
  progressSnapshot: null,
  createdAt: NOW,
})

const usageOf = (sessionId: string, values: Partial<UsageRow> = {}): UsageRow => ({
  day: 20_000,
  sessionId,
  owner: 'ann',
  agent: 'clerk',
  provider: 'demo',
  model: 'demo',
  runs: 2,
  modelRuns: 3,
  input: 10,
  output: 20,
  cachedInput: 4,
  cacheWrite: 5,
  reasoning: 6,
  failed: 1,
  cancelled: 1,
  took: 'Ab',
  ...values,
})

/** A chain of this length, with these people in it. */
function chainOf(chain: string, ...people: string[]): AuditEntry[] {
  const entries: AuditEntry[] = []
  for (const by of people) {
    const last = entries.at(-1)
    const end = last === undefined ? emptyChain(chain) : { chain, n: last.n, head: last.hash }
    entries.push(nextEntry(end, JSON.stringify(newAudit(by))))
  }
  return entries
}

export function describeImports(open: OpenStore): void {
  describe('importing what belongs to a session', () => {
    test('brings its files, proposals, instructions, checkpoints and notes', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession({ supervision: { ...supervisionSample, status: 'terminated', terminatedAt: NOW } })
      const sessionId = session.id
      const files = [newFile({ sessionId }), newFile({ sessionId })]
      const waits = [1, 2].map(() => newApproval(newRun(sessionId), { kind: 'diff', supervised: askedElsewhere }))
      const [one = '', two = ''] = waits.map(({ id }) => id)
      const proposals: Proposal[] = [
        { approvalId: one, diff: '-a\n+b\n', after: Uint8Array.from([0, 255, 10]) },
        { approvalId: agentsProposalId(one), diff: '-a\n+c\n', after: Uint8Array.from([7]) },
        { approvalId: two, diff: '-a\n', after: null },
      ]
      const instructions = [newInstruction({ sessionId }), newInstruction({ sessionId, deliveredAt: null })]
      const checkpoints = [newCheckpoint(sessionId), newCheckpoint(sessionId)]
      const notes = ['b', 'a'].map((key) => ({ channel: 'slack', key, session: sessionId, value: '{}', at: NOW }))
      const parts = { files, proposals, instructions, checkpoints, notes }
      const base = { type: 'import_session', session, runs: [], messages: [], entries: [] } as const
      const command = { ...base, waits, ...parts }

      await done(store, command)

      let last = store
      for await (const current of beforeAndAfter(store, reopen)) {
        last = current
        expect(await current.files.ofSession(sessionId)).toEqual(files)
        expect(await current.supervised.instructions({ sessionId, limit: 10 })).toEqual(instructions)
        expect((await current.supervised.checkpoints({ sessionId, limit: 10 })).reverse()).toEqual(checkpoints)
        expect(await current.supervised.checkpoint(checkpoints[1]?.id ?? '')).toEqual(checkpoints[1])
        expect(await current.outbox.notesOf(sessionId)).toEqual([notes[1], notes[0]])
        for (const { approvalId, diff, after } of proposals) {
          const found = await current.supervised.proposal(approvalId)
          const bytes = found?.after == null ? null : Uint8Array.from(found.after)
          expect({ ...found, after: bytes }).toEqual({ approvalId, diff, after })
        }
      }
      for (const part of ['files', 'instructions', 'checkpoints', 'notes'] as const) {
        const other = { ...base, session: newSession(), [part]: parts[part] }
        expect([part, await refusal(last, other)]).toEqual([part, 'conflict'])
        expect(await last.sessions.get(other.session.id)).toBe(null)
      }
      expect(await last.outbox.notesOf(sessionId)).toEqual([notes[1], notes[0]])
      await done(last, remove(sessionId))
      expect([await last.files.ofSession(sessionId), await last.outbox.notesOf(sessionId)]).toEqual([[], []])
      expect(await last.supervised.checkpoint(checkpoints[0]?.id ?? '')).toBe(null)
    })
  })

  describe('importing records that belong to no session', () => {
    test('brings grants, tasks, pins and usage, each once', async () => {
      const { store, reopen } = await openForTest(open)
      const grants = [newGrant(), newGrant({ sessionId: newId() })]
      const task = newInstruction({ kind: 'task', deliveredAt: null })
      const pin = (workspaceRoot: string): PolicyPin => ({
        workspaceRoot,
        sha256: 'ab',
        text: '{}',
        at: NOW,
        by: 'ada',
      })
      const pins = [pin('/srv/a'), pin('/srv/b')]
      const usage = [usageOf('s1'), usageOf('s1', { model: 'large' }), usageOf('s2', { day: 19_999 })]
      const notes = [{ channel: 'kept memories', key: 'ann', session: null, value: '[]', at: NOW }]
      const command = { type: 'import_records', grants, instructions: [task], pins, usage, notes } as const

      await done(store, command)

      let last = store
      for await (const current of beforeAndAfter(store, reopen)) {
        last = current
        expect(await Promise.all(grants.map(({ id }) => current.grants.get(id)))).toEqual(grants)
        expect(await current.supervised.instructions({ kind: 'task', isWaiting: true, limit: 10 })).toEqual([task])
        expect(await current.supervised.pins()).toEqual(pins)
        expect(await current.outbox.notes('kept memories')).toEqual(notes)
        const rows = await current.usage.rows(null, 10)
        expect(rows.toSorted(byPlace)).toEqual(usage.toSorted(byPlace))
        expect(await current.usage.row(usageOf('s1', { model: 'large', runs: 0 }))).toEqual(usage[1])
        expect(await current.usage.row(usageOf('s9'))).toBe(null)
        const [first, ...others] = rows
        expect(await current.usage.rows(first ?? null, 1)).toEqual(others.slice(0, 1))
        expect(await current.usage.rows(others.at(-1) ?? null, 10)).toEqual([])
      }
      const results = await commit(
        last,
        { type: 'import_records', grants: grants.slice(0, 1) },
        { type: 'import_records', instructions: [task] },
        { type: 'import_records', usage: [usageOf('s3'), ...usage.slice(0, 1)] },
        { type: 'import_records', notes },
        { type: 'import_records', pins: [{ ...pin('/srv/a'), by: 'bob' }] },
      )
      expect(results.map(({ ok }) => ok)).toEqual([false, false, false, false, true])
      expect((await last.usage.rows(null, 10)).length).toBe(3)
      expect(await last.supervised.pin('/srv/a')).toMatchObject({ by: 'bob' })
    })
  })

  describe('importing the audit trail of another store', () => {
    test('keeps its chains as they are, beside the own ones', async () => {
      const { store, reopen } = await openForTest(open)
      await done(store, { type: 'add_audit', audit: [newAudit('own')] })
      const own = await store.audit.chains()
      const theirs = chainOf('their-process', 'a', 'b', 'c')
      const [first] = chainOf(MAIN_CHAIN, 'x')
      const name = importedMain(first?.hash ?? '')
      const main = chainOf(name, 'x', 'y')

      await done(store, { type: 'import_audit', entries: theirs.slice(0, 2), audit: [] })
      await done(store, { type: 'import_audit', entries: theirs.slice(2), audit: [newAudit('importer')] })
      await done(store, { type: 'import_audit', entries: main, audit: [] })

      for await (const current of beforeAndAfter(store, reopen)) {
        expect((await current.audit.chains()).sort()).toEqual([...own, name, 'their-process'].sort())
        expect(await current.audit.entries(0, 10, 'their-process')).toEqual(theirs)
        expect(await current.audit.entries(1, 1, 'their-process')).toEqual(theirs.slice(1, 2))
        expect(await current.audit.newest(3, 1, 'their-process')).toEqual(theirs.slice(1, 2))
        expect(await current.audit.entries(0, 10, name)).toEqual(main)
        expect(await current.audit.ends()).toEqual(expect.arrayContaining([theirs[2], main[1]]))
        expect(await auditors(current)).toEqual(['own', 'importer'])
      }
    })

    test('is refused where entries do not follow from each other', async () => {
      const { store } = await openForTest(open)
      const theirs = chainOf('their-process', 'a', 'b', 'c')
      const put = (entries: readonly AuditEntry[]) => refusal(store, { type: 'import_audit', entries, audit: [] })

      expect(await put(theirs.slice(1))).toBe('conflict')
      expect(await put(theirs.map((entry) => (entry.n === 2 ? { ...entry, text: '{}' } : entry)))).toBe('conflict')
      expect(await put(chainOf(MAIN_CHAIN, 'x'))).toBe('conflict')
      expect(await put([...theirs.slice(0, 1), ...chainOf('other', 'a', 'b').slice(1)])).toBe('conflict')
      await done(store, { type: 'import_audit', entries: theirs.slice(0, 2), audit: [] })
      expect(await put(theirs)).toBe('conflict')
      expect(await store.audit.entries(0, 10, 'their-process')).toEqual(theirs.slice(0, 2))
    })
  })
}

const byPlace = (a: UsageRow, b: UsageRow): number => {
  const [one, other] = [a, b].map(({ sessionId, model }) => `${sessionId} ${model}`)
  return (one ?? '') < (other ?? '') ? -1 : 1
}
