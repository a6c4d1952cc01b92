import type { AuditEntry } from '../../../domain/audit.ts'
import { EMPTY_CHAIN, verifyChain } from '../../../store/audit-chain.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'

const PAGE = 500

/** The trail from its start, page by page. */
export async function* auditPages(trail: AuditReads): AsyncGenerator<AuditEntry[]> {
  let n = 0
  for (;;) {
    const page = await trail.entries(n, PAGE)
    if (page.length > 0) yield page
    const last = page.at(-1)
    // An entry whose number was changed must not send the reader back to where it was.
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
  let end = EMPTY_CHAIN
  let foundAt: number | null = null
  for await (const page of auditPages(trail)) {
    const verdict = verifyChain(page, end)
    if (!verdict.ok) {
      throw new CliError(exitCodes.failed.code, `The audit trail is broken at entry ${verdict.n}.`, [
        verdict.reason,
        ...(verdict.n === 1 ? [] : [`What comes before it fits together: ${entries(verdict.n - 1)}.`]),
      ])
    }
    foundAt ??= page.find(({ hash }) => hash === wanted)?.n ?? null
    end = verdict
  }
  if (wanted !== null && foundAt === null) {
    throw new CliError(exitCodes.failed.code, `No entry of the audit trail has the hash ${wanted}.`, [
      'Entries were cut off or the whole trail was made anew, or the hash belongs to another data directory.',
      `It has ${entries(end.n)} now, and the head ${end.head}.`,
    ])
  }
  if (expected !== null && end.head !== expected) {
    throw new CliError(exitCodes.failed.code, 'The audit trail does not end with the expected hash.', [
      `It is that of entry ${foundAt}; ${entries(end.n - (foundAt ?? 0))} came after it. The head is ${end.head}.`,
      'Where more may have come: --contains <hash>',
    ])
  }
  io.stdout.write(`The audit trail is whole: ${entries(end.n)}.\nhead ${end.head}\n`)
  return exitCodes.ok.code
}

function hashOf(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null
  const hash = text.trim().toLowerCase()
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  throw new CliError(exitCodes.usage.code, `${flag} ${JSON.stringify(text)} is no hash.`, [
    'Write the 64 characters that `quarterdeck audit verify` has printed.',
  ])
}

const entries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`)
