import type { AuditEntry } from '../../../domain/audit.ts'
import { type ChainEnd, emptyChain, verifyChain } from '../../../store/audit-chain.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'

const PAGE = 500

/** Reads a chain of the trail from its start, page by page. */
export async function* auditPages(trail: Pick<AuditReads, 'entries'>, chain: string): AsyncGenerator<AuditEntry[]> {
  let n = 0
  for (;;) {
    const page = await trail.entries(n, PAGE, chain)
    if (page.length > 0) yield page
    const last = page.at(-1)
    // An entry with a changed number must not make this read the same page again.
    if (last === undefined || page.length < PAGE || last.n <= n) return
    n = last.n
  }
}

export async function verifyAudit(
  trail: AuditReads,
  options: { expect?: string; contains?: string },
  io: Io,
): Promise<number> {
  const expected = hashOf('--expect', options.expect)
  const contained = hashOf('--contains', options.contains)
  const wanted = expected ?? contained
  const ends: ChainEnd[] = []
  let found: AuditEntry | null = null
  for (const chain of await trail.chains()) {
    let end = emptyChain(chain)
    for await (const page of auditPages(trail, chain)) {
      end = wholePart(page, end)
      found ??= page.find(({ hash }) => hash === wanted) ?? null
    }
    ends.push(end)
  }
  const count = ends.reduce((sum, { n }) => sum + n, 0)
  const heads = ends.map(({ chain, head }) => (ends.length === 1 ? head : `${head} of chain ${chain}`))
  if (wanted !== null && found === null) {
    throw new CliError(exitCodes.failed.code, `No entry of the audit trail has the hash ${wanted}.`, [
      'Entries were cut off, the whole trail was replaced, or the hash belongs to another data directory.',
      `The trail now has ${entries(count)} and the head ${heads.join(' and ')}.`,
    ])
  }
  const end = ends.find(({ chain }) => chain === found?.chain)
  if (expected !== null && found !== null && end !== undefined && end.head !== expected) {
    throw new CliError(exitCodes.failed.code, 'The audit trail does not end with the expected hash.', [
      `The hash belongs to entry ${found.n}; ${entries(end.n - found.n)} came after it. The head is ${end.head}.`,
      'If newer entries are fine: --contains <hash>',
    ])
  }
  io.stdout.write(`The audit trail is whole: ${entries(count)}.\n${heads.map((head) => `head ${head}\n`).join('')}`)
  return exitCodes.ok.code
}

/** Returns the end of the chain after this page. Throws if the page does not follow from what comes before it. */
function wholePart(page: readonly AuditEntry[], before: ChainEnd): ChainEnd {
  const verdict = verifyChain(page, before)
  if (verdict.ok) return verdict
  throw new CliError(exitCodes.failed.code, `The audit trail is broken at entry ${verdict.n}.`, [
    verdict.reason,
    ...(verdict.n === 1 ? [] : [`Intact before it: ${entries(verdict.n - 1)}.`]),
  ])
}

function hashOf(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null
  const hash = text.trim().toLowerCase()
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  throw new CliError(exitCodes.usage.code, `${flag} ${JSON.stringify(text)} is not a hash.`, [
    'Write the 64 characters that `quarterdeck audit verify` printed.',
  ])
}

const entries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`)
