import { createHash, type Hash } from 'node:crypto'
import { type AuditEntry, importedMain, MAIN_CHAIN } from '../../../domain/supervision/audit.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Blobs } from '../../../files/keep/blob-folder.ts'
import { canonicalJson } from '../../../json/digest.ts'
import { trailImported } from '../../../store/audit-ties.ts'
import type { Command } from '../../../store/ports/command.ts'
import type { Store } from '../../../store/store.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'
import type { ArchivedRecords, BytesPart } from './archive-lines.ts'
import { type ArchivedSession, damaged, readArchive } from './session-archive.ts'
import { differences, findersIn } from './stored-session.ts'

export interface ArchiveTarget {
  store: Store
  blobs: Pick<Blobs, 'begin'>
  newId(): string
}

/**
 * Imports line by line. What is here already and the same is left alone, so an import that was stopped can be repeated. A damaged line stops
 * it; what came before it is kept, and it says how much that is.
 */
export async function importSessions(
  target: ArchiveTarget,
  file: string,
  { all = false }: { all?: boolean },
  io: Io,
): Promise<number> {
  const { store } = target
  const tally = { imported: 0, same: 0, different: 0, others: 0, refused: 0 }
  const tell = (line: string) => io.stderr.write(`${line}\n`)
  const bytes = createBytesTaker(target)
  const trail = createTrailTaker(store, io)
  const sessions = createSessionTaker(store, (outcome) => {
    tally[outcome] += 1
  })
  try {
    for await (const { line, number } of readArchive(file, io)) {
      const refuse = (what: string) => tell(`Line ${number}: ${what}`)
      if (line.type !== 'bytes') bytes.mustBeWhole(number)
      switch (line.type) {
        case 'bytes':
          await bytes.take(line.part, number)
          break
        case 'session':
          await sessions.take(line.session, refuse)
          break
        case 'records':
          if (all) tally.refused += await importRecords(store, line.records, refuse)
          else tally.others += 1
          break
        case 'audit':
          if (all) tally.refused += await trail.take(line.entries, number, refuse)
          else tally.others += 1
          break
        case 'end':
          break
        default:
          unreachable(line)
      }
    }
    await sessions.flush()
    tally.refused += await trail.end()
  } catch (error) {
    // The first error says more than one about the sessions before it.
    await sessions.flush().catch(() => {})
    await bytes.discard()
    if (tally.imported > 0) tell(`Imported ${counted(tally.imported, 'session')} before it stopped.`)
    throw error
  }
  const { imported, same, different, others, refused } = tally
  tell(
    [
      `Imported ${counted(imported, 'session')}.`,
      ...(same === 0 ? [] : [`${counted(same, 'session')} ${same === 1 ? 'was' : 'were'} here already, the same.`]),
      ...(different === 0 ? [] : [`${counted(different, 'session')} already existed and did not change.`]),
    ].join(' '),
  )
  if (others > 0) tell('Left out: grants, policies, tasks, usage and the audit trail. --all imports them too.')
  return different + refused === 0 ? exitCodes.ok.code : exitCodes.failed.code
}

type Refuse = (what: string) => void

type Outcome = 'imported' | 'same' | 'different'

/** Sessions that are committed together: a sync costs more than a small session. Few enough to keep them in memory. */
const SESSIONS_AT_ONCE = 25
const ENTRIES_AT_ONCE = 5_000

function createSessionTaker(store: Store, tell: (outcome: Outcome) => void) {
  let waiting: { session: ArchivedSession; refuse: Refuse }[] = []

  async function flush(): Promise<void> {
    const taken = waiting
    waiting = []
    if (taken.length === 0) return
    const commands = taken.map(({ session }) => ({ type: 'import_session', ...session }) as const)
    const conflicts = await conflictsOf(store, commands)
    for (const [i, { session, refuse }] of taken.entries()) {
      const conflict = conflicts[i] ?? null
      const differ = conflict === null ? [] : await differences(store, session)
      if (conflict === null) tell('imported')
      else if (differ?.length === 0) tell('same')
      else {
        const reason = differ === null ? conflict : `it exists and is different (${differ.join(', ')}).`
        refuse(`session ${session.session.id} refused: ${reason}`)
        tell('different')
      }
    }
  }

  return {
    async take(session: ArchivedSession, refuse: Refuse): Promise<void> {
      waiting.push({ session, refuse })
      const entries = waiting.reduce((sum, one) => sum + one.session.entries.length, 0)
      if (waiting.length >= SESSIONS_AT_ONCE || entries >= ENTRIES_AT_ONCE) await flush()
    },
    flush,
  }
}

/** Why the store refuses each command because of what it has already. Null: it was done. */
async function conflictsOf(store: Pick<Store, 'commit'>, commands: readonly Command[]): Promise<(string | null)[]> {
  const { results, synced } = await store.commit(commands)
  await synced
  return results.map((result) => {
    if (result.ok) return null
    if (result.error.code !== 'conflict') throw result.error
    return result.error.message
  })
}

const conflictOf = async (store: Pick<Store, 'commit'>, command: Command): Promise<string | null> =>
  (await conflictsOf(store, [command]))[0] ?? null

/** The records of a line that are not here yet. Returns how many it refused. */
async function importRecords(store: Store, records: ArchivedRecords, refuse: Refuse): Promise<number> {
  const { grants = [], instructions = [], pins = [], usage = [], notes = [] } = records
  const find = findersIn(store)
  let refused = 0
  /** Those that are missing here. */
  async function missing<T>(what: string, all: readonly T[], find: (one: T) => Promise<T | null>): Promise<T[]> {
    const found: T[] = []
    for (const one of all) {
      const here = await find(one)
      if (here === null) found.push(one)
      else if (canonicalJson(here) !== canonicalJson(one)) {
        refused += 1
        refuse(`${what} refused: it exists and is different.`)
      }
    }
    return found
  }
  const command = {
    type: 'import_records',
    grants: await missing('a grant', grants, find.grant),
    instructions: await missing('a task', instructions, find.task),
    pins: await missing('a policy', pins, find.pin),
    usage: await missing('a row of usage', usage, find.usage),
    notes: await missing('a note', notes, find.note),
  } as const
  const conflict = await conflictOf(store, command)
  if (conflict === null) return refused
  refuse(`records refused: ${conflict}`)
  return refused + 1
}

/** Puts the parts of files together and keeps them under their hash. */
function createBytesTaker({ blobs, newId }: Pick<ArchiveTarget, 'blobs' | 'newId'>) {
  type Incoming = Awaited<ReturnType<Blobs['begin']>>
  let open: { sha256: string; incoming: Incoming; hash: Hash; next: number; bytes: number } | null = null

  return {
    async take({ sha256, size, n, data }: BytesPart, number: number): Promise<void> {
      if (n === 0 && open === null) {
        open = { sha256, incoming: await blobs.begin(newId()), hash: createHash('sha256'), next: 0, bytes: 0 }
      }
      if (open?.sha256 !== sha256 || open.next !== n) throw damaged(number, 'bytes: a part of the file is missing.')
      await open.incoming.write(data)
      open.hash.update(data)
      open.next += 1
      open.bytes += data.length
      if (open.bytes < size) return
      if (open.bytes > size || open.hash.digest('hex') !== sha256)
        throw damaged(number, 'bytes: the file does not have its hash.')
      await open.incoming.sync()
      await open.incoming.keepAs(sha256)
      await open.incoming.discard()
      open = null
    },
    mustBeWhole(number: number): void {
      if (open !== null) throw damaged(number, 'bytes: the end of the file before it is missing.')
    },
    discard: async () => open?.incoming.discard(),
  }
}

/**
 * Adds the chains of the archive's audit trail. The last entries of a chain are held back until the chain ends: the record of the import
 * is written with them.
 */
function createTrailTaker(store: Store, io: Io) {
  type Open = { name: string; chain: string; waiting: readonly AuditEntry[]; isRefused: boolean; refuse: Refuse }
  let open: Open | null = null

  async function add(entries: readonly AuditEntry[], isLast: boolean): Promise<string | null> {
    const last = entries.at(-1)
    if (last === undefined) return null
    const end = { chain: last.chain, n: last.n, head: last.hash }
    const audit = isLast ? [trailImported({ at: io.clock.now(), by: 'command line', end })] : []
    return conflictOf(store, { type: 'import_audit', entries, audit })
  }

  function refused({ chain, refuse }: Open, conflict: string): number {
    refuse(`chain ${chain} of the audit trail refused: ${conflict}`)
    return 1
  }

  /** Returns how many chains it refused, as `take` does. */
  async function end(): Promise<number> {
    const last = open
    open = null
    if (last === null || last.isRefused) return 0
    const conflict = await add(last.waiting, true)
    return conflict === null ? 0 : refused(last, conflict)
  }

  return {
    async take(entries: readonly AuditEntry[], number: number, refuse: Refuse): Promise<number> {
      const [first] = entries
      if (first === undefined) return 0
      let count = 0
      if (open?.name !== first.chain) {
        count = await end()
        if (first.n !== 1) throw damaged(number, 'audit: the beginning of the chain is missing.')
        const chain = first.chain === MAIN_CHAIN ? importedMain(first.hash) : first.chain
        open = { name: first.chain, chain, waiting: [], isRefused: false, refuse }
      }
      if (open.isRefused) return count
      const { chain } = open
      const given = entries.map((entry) => ({ ...entry, chain }))
      const here = await store.audit.entries(first.n - 1, given.length, chain)
      const isOther = here.some(({ text, hash }, i) => text !== given[i]?.text || hash !== given[i]?.hash)
      const conflict = isOther ? 'it exists and is different.' : await add(open.waiting, false)
      open = { ...open, waiting: given.slice(here.length), isRefused: conflict !== null, refuse }
      return conflict === null ? count : count + refused(open, conflict)
    },
    end,
  }
}
