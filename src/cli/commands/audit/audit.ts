import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { Command } from 'commander'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { AuditReads } from '../../../store/ports/audit.ts'
import type { ReadOnlyStore } from '../../../store/store.ts'
import { usageError } from '../../cli-error.ts'
import { type CommandContext, countFlag, examples } from '../../command.ts'
import { addStoreCommand, type StoreFlags, storePlace, withStoredIn } from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { endLine } from '../sessions/archive-lines.ts'
import { auditLines, write, writeNewFile } from '../sessions/export.ts'
import { archiveHeader } from '../sessions/session-archive.ts'
import { archivedTrail, storedTrail, verifyAudit } from './verify.ts'

export function createAuditCommand({ io }: CommandContext): Command {
  const command = new Command('audit')
    .summary('list, export and verify the trail of decisions and calls')
    .description(
      'Every decision and every call with side effects is an entry of the audit trail. Hashes chain the entries. Works on a data ' +
        'directory or a Postgres database, also while servers use it.',
    )
    .addHelpText(
      'after',
      examples(
        'audit list --limit 20',
        'audit verify --data-dir /var/lib/quarterdeck',
        'audit verify --contains 5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
        'audit export -o trail.jsonl && quarterdeck audit verify --file trail.jsonl',
      ),
    )
  const add = (name: string, summary: string) => addStoreCommand(command, name, summary)

  add('list', 'Lists the newest entries, oldest first.')
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object per line')
    .action(async (options: StoreFlags & { limit: string; json?: boolean }) =>
      withStoredIn(await storePlace(options, io), io, (stored) =>
        stored.read((store) => listAudit(store.audit, options, io)),
      ),
    )

  add('export', 'Writes all chains of the trail as JSON Lines, so that they can be verified elsewhere.')
    .option('-o, --output <file>', 'a new file that only you can read (default: standard output)')
    .action(async (options: StoreFlags & { output?: string }) =>
      withStoredIn(await storePlace(options, io), io, (stored) => exportAudit(stored, options, io)),
    )

  add(
    'verify',
    'Recomputes every hash, and checks what the ties say about the chains. Ends with 1 when an entry was changed, removed or inserted.',
  )
    .option('--expect <hash>', 'the last entry must have this hash: nothing was cut off or added since you noted it')
    .option(
      '--contains <hash>',
      'an entry must have this hash: nothing up to it was cut off, and there may be newer entries',
    )
    .option('--file <file>', 'an export of the trail, or of everything, instead of a store')
    .addHelpText(
      'after',
      `
A chain alone cannot show that its end was cut off. Keep the head or the last tie that verify prints in another place, and
pass it to --expect or --contains the next time.`,
    )
    .action(async ({ file, ...options }: StoreFlags & { expect?: string; contains?: string; file?: string }) => {
      if (file === undefined) {
        return await withStoredIn(await storePlace(options, io), io, (stored) =>
          stored.read((store) => verifyAudit(storedTrail(store.audit), options, io)),
        )
      }
      if (file === '-') throw usageError('--file needs a file: it is read twice.')
      await verifyAudit(archivedTrail(file, io), options, io)
    })
  return command
}

/** Writes the trail in the format of `sessions export`, without the sessions. */
async function exportAudit(
  stored: Pick<ReadOnlyStore, 'read'>,
  { output }: { output?: string },
  io: Io,
): Promise<void> {
  async function fill(into: Writable): Promise<void> {
    await write(into, `${archiveHeader(io.clock.now())}\n`)
    for await (const line of auditLines(stored)) await write(into, `${line}\n`)
    await write(into, `${endLine(0)}\n`)
  }
  if (output === undefined) await fill(io.stdout)
  else await writeNewFile(resolve(io.cwd, output), output, io, fill)
}

/** Lists the newest entries, oldest first, as they are stored. It does not check the chain. */
export async function listAudit(
  trail: AuditReads,
  { limit, json }: { limit: string; json?: boolean },
  io: Io,
): Promise<void> {
  const most = countFlag('--limit', limit)
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
  const value = jsonIn(text)
  return isRecord(value) ? value : { text }
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
