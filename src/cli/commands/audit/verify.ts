import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import type { ReadOnlyStore } from '../../../store/store.ts'
import { type TrailPages, type TrailProblem, verifyTrail } from '../../../store/verify-trail.ts'
import { type CliError, failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { counted, localTime, localZone } from '../../terminal/terminal-text.ts'
import { readArchive } from '../sessions/session-archive.ts'

const PAGE = 500
/** Problems that are printed. */
const MOST_PROBLEMS = 20

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

/** Each page is a read of its own, so that the log of a running server's database does not grow meanwhile. */
export const auditIn = (stored: Pick<ReadOnlyStore, 'read'>): Pick<AuditReads, 'chains' | 'entries'> => ({
  chains: () => stored.read((store) => store.audit.chains()),
  entries: (n, limit, chain) => stored.read((store) => store.audit.entries(n, limit, chain)),
})

export const storedTrail = (trail: Pick<AuditReads, 'chains' | 'entries'>): TrailPages => ({
  chains: () => trail.chains(),
  pages: (chain) => auditPages(trail, chain),
})

export async function verifyAudit(
  trail: TrailPages,
  options: { expect?: string; contains?: string },
  io: Io,
): Promise<void> {
  const expected = hashOf('--expect', options.expect)
  const contained = hashOf('--contains', options.contains)
  const wanted = expected ?? contained
  let found: AuditEntry | null = null
  const { ends, lastTie, problems } = await verifyTrail(trail, (page) => {
    found ??= page.find(({ hash }) => hash === wanted) ?? null
  })
  const isOnlyChain = ends.length <= 1
  if (problems.length > 0) throw broken(problems, isOnlyChain)
  const count = ends.reduce((sum, { n }) => sum + n, 0)
  const heads = ends.map(({ chain, head }) => (isOnlyChain ? head : `${head} of chain ${chain}`))
  checkWanted(found, { expected, contained }, ends, heads)
  const tie = lastTie === null ? '' : `last tie ${lastTie.hash} of ${localTime(lastTie.at)} (${localZone()})\n`
  const chains = isOnlyChain ? '' : ` in ${ends.length} chains`
  io.stdout.write(
    `The audit trail is whole: ${entries(count)}${chains}.\n${heads.map((head) => `head ${head}\n`).join('')}${tie}`,
  )
}

function checkWanted(
  found: AuditEntry | null,
  { expected, contained }: { expected: string | null; contained: string | null },
  ends: readonly { chain: string; n: number; head: string }[],
  heads: readonly string[],
): void {
  const wanted = expected ?? contained
  if (wanted === null) return
  if (found === null) {
    const count = ends.reduce((sum, { n }) => sum + n, 0)
    throw failure(`No entry of the audit trail has the hash ${wanted}.`, [
      'Entries were cut off, the whole trail was replaced, or the hash belongs to another data directory.',
      `The trail now has ${entries(count)} and the head ${heads.join(' and ')}.`,
    ])
  }
  const end = ends.find(({ chain }) => chain === found.chain)
  if (expected !== null && end !== undefined && end.head !== expected) {
    throw failure('The audit trail does not end with the expected hash.', [
      `The hash belongs to entry ${found.n}; ${entries(end.n - found.n)} came after it. The head is ${end.head}.`,
      'If newer entries are fine: --contains <hash>',
    ])
  }
}

function broken(problems: readonly TrailProblem[], isOnlyChain: boolean): CliError {
  const [first, ...others] = problems
  if (first !== undefined && first.n !== null && others.length === 0) {
    const place = isOnlyChain ? `entry ${first.n}` : `entry ${first.n} of chain ${first.chain}`
    return failure(`The audit trail is broken at ${place}.`, [
      first.reason,
      ...(first.n === 1 ? [] : [`Intact before it: ${entries(first.n - 1)}.`]),
    ])
  }
  const more = problems.length - MOST_PROBLEMS
  return failure(`The audit trail is not whole: ${counted(problems.length, 'problem')}.`, [
    ...problems
      .slice(0, MOST_PROBLEMS)
      .map(({ chain, reason }) => (reason.includes(chain) ? reason : `Chain ${chain}: ${reason}`)),
    ...(more > 0 ? [`And ${more} more.`] : []),
  ])
}

function hashOf(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null
  const hash = text.trim().toLowerCase()
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  throw usageError(`${flag} ${JSON.stringify(text)} is not a hash.`, [
    'Write the 64 characters that `quarterdeck audit verify` printed.',
  ])
}

const entries = (count: number): string => counted(count, 'entry', 'entries')

type Page = readonly AuditEntry[]

/**
 * The audit trail in an export. The entries of a chain follow each other there, and whoever asks for one chain after the other reads the
 * file once: there is a chain for each start of a server.
 */
export function archivedTrail(file: string, io: Io): TrailPages {
  /** Chains that stand in several places, as in archives that somebody has joined. */
  const scattered = new Set<string>()
  let reading: AsyncGenerator<Page, void> | null = null
  let current: Page | null = null

  /** Each of one chain. */
  async function* pages(): AsyncGenerator<Page, void> {
    for await (const { line } of readArchive(file, io)) if (line.type === 'audit') yield* ofOneChain(line.entries)
  }

  async function next(): Promise<void> {
    current = (await reading?.next())?.value ?? null
  }

  /** Goes on to the next page of this chain, and begins anew if there is none. */
  async function find(chain: string): Promise<void> {
    for (const isAgain of [false, true]) {
      if (isAgain || reading === null) {
        await reading?.return()
        reading = pages()
        await next()
      }
      while (current !== null && current[0]?.chain !== chain) await next()
      if (current !== null) return
    }
  }

  return {
    async chains() {
      const found = new Set<string>()
      let last: string | undefined
      for await (const [first] of pages()) {
        const chain = first?.chain ?? ''
        if (chain !== last && found.has(chain)) scattered.add(chain)
        found.add(chain)
        last = chain
      }
      return [...found]
    },
    async *pages(chain) {
      if (scattered.has(chain)) {
        for await (const page of pages()) if (page[0]?.chain === chain) yield page
        return
      }
      for (await find(chain); current?.[0]?.chain === chain; await next()) yield current
    },
  }
}

function* ofOneChain(entries: Page): Generator<Page> {
  for (let from = 0; from < entries.length; ) {
    const { chain } = entries[from] ?? {}
    const length = entries.slice(from).findIndex((entry) => entry.chain !== chain)
    const to = length < 0 ? entries.length : from + length
    yield entries.slice(from, to)
    from = to
  }
}
