import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../app/open-store.ts'
import { type AuditEntry, MAIN_CHAIN } from '../../../domain/supervision/audit.ts'
import { emptyChain, nextEntry } from '../../../store/audit-chain.ts'
import { accept, acceptedRun, append, done, newAudit, newSession } from '../../../store/contract/samples.contract.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import { main } from '../../main.ts'
import { reportError } from '../../report-error.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { listAudit } from './audit.ts'
import { storedTrail, verifyAudit } from './verify.ts'

/** A trail of calls. */
function trailOf(count: number, chain = MAIN_CHAIN): AuditEntry[] {
  const entries: AuditEntry[] = []
  for (let n = 1; n <= count; n += 1) {
    const last = entries.at(-1)
    const text = JSON.stringify({
      at: Date.UTC(2026, 10, 15, 6, 0, n % 60),
      kind: 'decision',
      by: 'ann',
      session: 's',
      run: 'r',
      agent: 'clerk',
      tool: 'pay\u001b[31m',
      call: `c${n}`,
      details: { decision: 'approve', digest: 'ab'.repeat(32) },
    })
    entries.push(nextEntry(last === undefined ? emptyChain(chain) : { ...last, head: last.hash }, text))
  }
  return entries
}

const readsOf = (trail: readonly AuditEntry[]): AuditReads => ({
  chains: async () => [...new Set([MAIN_CHAIN, ...trail.map(({ chain }) => chain)])],
  ends: async () => [...new Map(trail.map((entry) => [entry.chain, entry])).values()],
  entries: async (after, limit, wanted = MAIN_CHAIN) =>
    trail.filter(({ chain, n }) => chain === wanted && n > after).slice(0, limit),
  newest: async (before, limit, wanted = MAIN_CHAIN) =>
    trail
      .filter(({ chain, n }) => chain === wanted && n < (before ?? trail.length + 1))
      .reverse()
      .slice(0, limit),
})

async function verify(entries: readonly AuditEntry[], options: Parameters<typeof verifyAudit>[1] = {}) {
  const io = createTestIo()
  const exitCode = await verifyAudit(storedTrail(readsOf(entries)), options, io).then(
    () => 0,
    (error: unknown) => reportError(error, io),
  )
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck audit verify', () => {
  const trail = trailOf(1_203)
  const head = trail.at(-1)?.hash ?? ''
  const whole = { exitCode: 0, out: `The audit trail is whole: 1203 entries.\nhead ${head}\n`, err: '' }

  test('prints the number of entries and the head', async () => {
    expect(await verify(trail)).toEqual(whole)
    expect(await verify([])).toEqual({
      exitCode: 0,
      out: `The audit trail is whole: 0 entries.\nhead ${'0'.repeat(64)}\n`,
      err: '',
    })
  })

  test('names the entry where the chain breaks: exit 1', async () => {
    const changed = trail.map((entry) =>
      entry.n === 777 ? { ...entry, text: entry.text.replace('ann', 'eve') } : entry,
    )

    expect(await verify(changed)).toEqual({
      exitCode: 1,
      out: '',
      err: expect.stringMatching(
        /^quarterdeck: The audit trail is broken at entry 777\.\n {2}The hash of entry 777 .+\n {2}Intact before it: 776 entries\.\n$/,
      ),
    })
    expect((await verify(trail.filter(({ n }) => n !== 500))).err).toContain('broken at entry 500.')
    expect((await verify(trail.slice(1))).err).toContain('broken at entry 1.')
  })

  test('with a noted head, finds a trail that was cut off or has grown: exit 1', async () => {
    expect(await verify(trail, { expect: head.toUpperCase() })).toEqual(whole)
    expect(await verify(trail.slice(0, 1_000), { expect: head })).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining(`No entry of the audit trail has the hash ${head}.\n`),
    })
    expect(await verify(trail, { expect: trail[999]?.hash ?? '' })).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('The hash belongs to entry 1000; 203 entries came after it.'),
    })
    expect(await verify(trail, { contains: trail[999]?.hash ?? '' })).toEqual(whole)
    expect(await verify(trail.slice(0, 999), { contains: trail[999]?.hash ?? '' })).toMatchObject({ exitCode: 1 })
    expect(await verify(trail, { expect: 'abc' })).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('--expect "abc" is not a hash.'),
    })
  })
})

describe('a trail of several chains', () => {
  const [ours, theirs] = [trailOf(3), trailOf(2, 'replica-2')]
  const heads = [ours, theirs].map((chain) => chain.at(-1)?.hash ?? '')

  test('is verified chain by chain, and each has its head', async () => {
    const whole = {
      exitCode: 0,
      out: `The audit trail is whole: 5 entries in 2 chains.\nhead ${heads[0]} of chain main\nhead ${heads[1]} of chain replica-2\n`,
      err: '',
    }

    expect(await verify([...ours, ...theirs])).toEqual(whole)
    expect(await verify([...ours, ...theirs], { expect: heads[1] ?? '' })).toEqual(whole)
    expect((await verify([...ours, ...theirs.slice(1)])).err).toContain('broken at entry 1 of chain replica-2.')
  })

  test('names everything that is wrong', async () => {
    const [first, ...rest] = ours
    const changed = first === undefined ? [] : [{ ...first, text: '{}' }, ...rest]

    expect(await verify([...changed, ...theirs.slice(1)])).toEqual({
      exitCode: 1,
      out: '',
      err: expect.stringMatching(
        /^quarterdeck: The audit trail is not whole: 2 problems\.\n {2}Chain main: The hash of entry 1 .+\n {2}Chain replica-2: Entry 1 is missing.+\n$/,
      ),
    })
  })

  test('is listed with the chain of each entry', async () => {
    const io = createTestIo()
    await listAudit(readsOf([...ours, ...theirs]), { limit: '3' }, io)
    const [head, ...rows] = io.printed().trimEnd().split('\n')
    expect(head).toMatch(/^CHAIN +ENTRY +TIME/)
    expect(rows.map((row) => row.split(/ +/).slice(0, 2))).toEqual([
      ['main', '2'],
      ['replica-2', '2'],
      ['main', '3'],
    ])
  })

  test('finds an entry that was moved to another chain', async () => {
    const moved = theirs.slice(0, 1).map((entry) => ({ ...entry, chain: MAIN_CHAIN, n: 1 }))

    expect((await verify(moved)).err).toContain('broken at entry 1.')
  })
})

describe('quarterdeck audit list', () => {
  test('shows the newest entries, safe to print', async () => {
    const io = createTestIo()

    await listAudit(readsOf(trailOf(1_203)), { limit: '2' }, io)
    expect(io.printed()).toBe(
      'ENTRY  TIME (UTC)           KIND      BY   AGENT  TOOL             DETAILS\n' +
        '1202   2026-11-15 06:00:02  decision  ann  clerk  pay<U+001B>[31m  decision=approve digest=abababababab…\n' +
        '1203   2026-11-15 06:00:03  decision  ann  clerk  pay<U+001B>[31m  decision=approve digest=abababababab…\n',
    )
  })

  test('prints complete entries as JSON, even one that is no longer JSON', async () => {
    const io = createTestIo()
    const [first, second] = trailOf(2)
    const entries = [first, second].flatMap((entry) => (entry === undefined ? [] : [entry]))
    const damaged = entries.map((entry) => (entry.n === 2 ? { ...entry, text: '{"at"' } : entry))

    await listAudit(readsOf(damaged), { limit: '50', json: true }, io)

    const lines: unknown[] = io
      .printed()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      { chain: 'main', n: 1, hash: first?.hash, ...JSON.parse(first?.text ?? '') },
      { chain: 'main', n: 2, hash: second?.hash, text: '{"at"' },
    ])
  })
})

describe('the audit commands', () => {
  test('read a data directory, in use or not, and find a change made by hand', async () => {
    const cwd = await tempFolder()
    const dataDir = join(cwd, '.quarterdeck')
    const path = join(dataDir, 'quarterdeck.db')
    const run = async (...args: string[]) => {
      const io = createTestIo({ cwd })
      const exitCode = await main(['audit', ...args], io)
      return { exitCode, out: io.printed(), err: io.complained() }
    }
    expect(await run('verify')).toMatchObject({ exitCode: 2, err: expect.stringContaining('There is no data of') })

    const store = openStore({ dataDir, fatal() {} })
    const started = await acceptedRun(store, accept(newSession()))
    await done(store, append(started, [], { sync: true, audit: [newAudit('ann'), newAudit('bob')] }))
    const [, second] = await store.audit.entries(0, 10)
    expect(await run('verify')).toMatchObject({ exitCode: 0 })
    await store.close()

    expect(await run('verify', '--expect', second?.hash ?? '')).toEqual({
      exitCode: 0,
      out: `The audit trail is whole: 2 entries.\nhead ${second?.hash}\n`,
      err: '',
    })
    expect((await run('list', '--limit', '1')).out).toMatch(/^ENTRY .+\n2 .+ bob .+\n$/)
    expect(await run('list', '--limit', 'all')).toMatchObject({ exitCode: 2 })

    const database = new DatabaseSync(path)
    // Someone who can write the file can also remove the triggers that protect the table.
    database.exec("DROP TRIGGER audit_is_not_changed; UPDATE audit SET text = replace(text, 'ann', 'eve')")
    database.close()
    expect(await run('verify')).toMatchObject({
      exitCode: 1,
      out: '',
      err: expect.stringContaining('The audit trail is broken at entry 1.'),
    })
  })
})
