import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import { usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { localTime, localZone } from '../../terminal/local-time.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { textTable } from '../../terminal/text-table.ts'

/** Lists the newest entries, oldest first, as they are stored. It does not check the chain. */
export async function listAudit(
  trail: AuditReads,
  { limit, json }: { limit: string; json?: boolean },
  io: Io,
): Promise<void> {
  const most = Number(limit)
  if (!Number.isInteger(most) || most < 1) {
    throw usageError(`--limit ${JSON.stringify(limit)}: expected a whole number of at least 1.`)
  }
  const newest: AuditEntry[] = []
  for (const chain of await trail.chains()) newest.push(...(await trail.newest(null, most, chain)).reverse())
  // The chains of several processes overlap in time.
  const shown = inOrder(newest).slice(-most)

  if (json) for (const entry of shown) io.stdout.write(`${JSON.stringify(summary(entry))}\n`)
  else if (shown.length > 0) io.stdout.write(table(shown, new Set(newest.map(({ chain }) => chain)).size > 1))
  else io.stderr.write('The audit trail has no entries.\n')
}

/** By time. Entries of one chain stay in their order, whatever the clock did. */
function inOrder(entries: readonly AuditEntry[]): AuditEntry[] {
  const latest = new Map<string, number>()
  const timed = entries.map((entry) => {
    const { at } = recordOf(entry)
    const time = Math.max(latest.get(entry.chain) ?? 0, typeof at === 'number' ? at : 0)
    latest.set(entry.chain, time)
    return { entry, time }
  })
  return timed.sort((a, b) => a.time - b.time).map(({ entry }) => entry)
}

const summary = (entry: AuditEntry): Record<string, unknown> => ({
  ...{ chain: entry.chain, n: entry.n, hash: entry.hash },
  ...recordOf(entry),
})

/** An entry that was changed by hand may not be JSON. It is shown anyway. */
function recordOf({ text }: AuditEntry): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {}
  return { text }
}

/** Enough of the name of a chain to tell it from others. `audit verify` prints whole names. */
const CHAIN_CHARS = 13

/** Entries have their numbers in their chain, so with several chains a number alone says nothing. */
function table(entries: readonly AuditEntry[], hasChains: boolean): string {
  const head = [
    ...(hasChains ? ['CHAIN'] : []),
    'ENTRY',
    `TIME (${localZone()})`,
    'KIND',
    'BY',
    'AGENT',
    'TOOL',
    'DETAILS',
  ]
  const rows = entries.map((entry) => {
    const record = recordOf(entry)
    return [
      ...(hasChains ? [terminalLine(entry.chain.slice(0, CHAIN_CHARS), CHAIN_CHARS)] : []),
      String(entry.n),
      timeOf(record.at),
      cell(record.kind, 20),
      cell(record.by, 30),
      cell(record.agent, 30),
      cell(record.tool, 40),
      details(record),
    ]
  })
  return textTable(head, rows)
}

const timeOf = (at: unknown): string => (typeof at === 'number' ? localTime(at) : '?')

const cell = (value: unknown, width: number): string => (typeof value === 'string' ? terminalLine(value, width) : '?')

/** Shortens digests. `--json` has them in full. */
function details(record: Record<string, unknown>): string {
  if (typeof record.text === 'string') return terminalLine(record.text, 80)
  const { details: facts } = record
  if (typeof facts !== 'object' || facts === null) return ''
  const words = Object.entries(facts).map(([name, value]) => {
    const text = String(value)
    return `${name}=${/^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 12)}…` : text}`
  })
  return terminalLine(words.join(' '), 120)
}
