import type { AuditEntry } from '../../../domain/audit.ts'
import type { TrailPages } from '../../../store/verify-trail.ts'
import type { Io } from '../../terminal/io.ts'
import { readArchive } from '../sessions/read-archive.ts'

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
