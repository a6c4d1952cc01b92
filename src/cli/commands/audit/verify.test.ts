import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import { emptyChain, nextEntry } from '../../../store/audit-chain.ts'
import { newAudit } from '../../../store/contract/samples.contract.ts'
import { verifyTrail } from '../../../store/verify-trail.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { endLine } from '../sessions/archive-lines.ts'
import { archiveHeader } from '../sessions/session-archive.ts'
import { archivedTrail } from './verify.ts'

function chainOf(chain: string, length: number): AuditEntry[] {
  const entries: AuditEntry[] = []
  for (let end = emptyChain(chain); entries.length < length; ) {
    const entry = nextEntry(end, JSON.stringify(newAudit(`${chain}${entries.length}`)))
    entries.push(entry)
    end = { chain, n: entry.n, head: entry.hash }
  }
  return entries
}

/** An archive with a line for each of these lists. */
async function trailOf(...lines: AuditEntry[][]) {
  const cwd = await tempFolder()
  const text = [archiveHeader(0), ...lines.map((audit) => JSON.stringify({ audit })), endLine(0)]
  await writeFile(join(cwd, 'trail.jsonl'), `${text.join('\n')}\n`)
  const trail = archivedTrail('trail.jsonl', createTestIo({ cwd }))
  const read = async (chain: string): Promise<AuditEntry[]> => {
    const entries: AuditEntry[] = []
    for await (const page of trail.pages(chain)) entries.push(...page)
    return entries
  }
  return { trail, read }
}

const [a, b, c] = [chainOf('a', 3), chainOf('b', 2), chainOf('c', 1)]

test('every chain is read whole, in any order and as often as it is asked for', async () => {
  const { trail, read } = await trailOf(a.slice(0, 2), a.slice(2), [...b, ...c])

  expect(await trail.chains()).toEqual(['a', 'b', 'c'])
  for (const [name, entries] of [...Object.entries({ a, b, c }), ...Object.entries({ c, a, b }), ['a', a] as const]) {
    expect(await read(name)).toEqual(entries)
  }
  expect(await read('unknown')).toEqual([])
  expect(await verifyTrail(trail)).toMatchObject({ ends: [{ n: 3 }, { n: 2 }, { n: 1 }], problems: [] })
})

test('a chain that goes on elsewhere in the file is read there, too', async () => {
  const { trail, read } = await trailOf(a.slice(0, 2), b, a.slice(2), c)

  await trail.chains()
  expect([await read('a'), await read('b'), await read('c')]).toEqual([a, b, c])
  const joined = await trailOf(a, b, a)
  expect(await verifyTrail(joined.trail)).toMatchObject({ problems: [{ chain: 'a', n: 4 }] })
})
