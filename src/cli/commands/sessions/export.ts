import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { parseUuid } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import type { Blobs } from '../../../files/keep/blob-folder.ts'
import { notePlaces } from '../../../log/notes.ts'
import type { UsageRow } from '../../../store/ports/usage.ts'
import type { ReadOnlyStore, StoreReads } from '../../../store/store.ts'
import { CliError, cannotCreate, usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'
import { auditIn, auditPages } from '../audit/verify.ts'
import { openIfThere } from '../backup/new-folder.ts'
import { bytesLine, endLine, PART_BYTES } from './archive-lines.ts'
import { eachSession } from './list.ts'
import { archiveHeader } from './session-archive.ts'
import { sessionLine } from './stored-session.ts'

/** Where sessions come from: the store, and the bytes of their files. */
export interface ArchiveSource {
  stored: Pick<ReadOnlyStore, 'read'>
  blobs: Pick<Blobs, 'open'>
}

interface Told {
  sessions: number
  /** Files whose bytes are lost. */
  withoutBytes: number
  /** Sessions with a run that is running or queued. */
  busy: number
}

export async function exportSessions(
  source: ArchiveSource,
  references: readonly string[],
  { owner, output, all = false }: { owner?: string; output?: string; all?: boolean },
  io: Io,
): Promise<void> {
  if (all && (references.length > 0 || owner !== undefined)) {
    throw usageError('--all is for everything in the store. Name no sessions and no owner.')
  }
  // All ids first: a session that is used during the export moves to the top of the list, and a walk through its pages would miss it.
  const ids = await source.stored.read((store) =>
    references.length === 0 ? allSessions(store, owner) : findSessions(store, owner, references),
  )
  const write = (into: Writable) => writeArchive(source, ids, all, into, io)
  const { sessions, withoutBytes, busy } =
    output === undefined ? await write(io.stdout) : await writeNewFile(resolve(io.cwd, output), output, io, write)
  const tell = (line: string) => io.stderr.write(`${line}\n`)
  tell(`Exported ${counted(sessions, 'session')}${owner === undefined ? '' : ` of ${owner}`}.`)
  if (withoutBytes > 0)
    tell(`The bytes of ${counted(withoutBytes, 'file')} are lost, so the archive does not have them.`)
  if (busy > 0) {
    tell(
      `${counted(busy, 'session')} had a run that has not ended. It goes on where you import it: stop the server here first, or it runs twice.`,
    )
  }
}

async function writeArchive(
  { stored, blobs }: ArchiveSource,
  ids: Iterable<string>,
  all: boolean,
  into: Writable,
  io: Io,
): Promise<Told> {
  const told: Told = { sessions: 0, withoutBytes: 0, busy: 0 }
  const sent = createRecentlySent()
  await write(into, `${archiveHeader(io.clock.now())}\n`)
  for (const id of ids) {
    // Each session as it is at one moment: a run may be writing to it.
    await stored.read(async (store) => {
      const session = await store.sessions.get(id)
      if (session === null || session.status === 'terminated') return
      for (const { sha256, bytes } of await store.files.ofSession(id)) {
        if (sent(sha256)) continue
        if (!(await writeBytes(blobs, sha256, bytes, into))) told.withoutBytes += 1
      }
      for await (const piece of sessionLine(store, session)) await write(into, piece)
      if ((await store.runs.open(id)).some(({ status }) => status !== 'waiting')) told.busy += 1
      told.sessions += 1
    })
  }
  if (all) for await (const line of otherLines(stored, io.clock.now())) await write(into, `${line}\n`)
  await write(into, `${endLine(told.sessions)}\n`)
  return told
}

/** The same file may be in many sessions. A second copy in the archive does no harm, so the memory of them may be short. */
function createRecentlySent(): (sha256: string) => boolean {
  const sent = new Set<string>()
  return (sha256) => {
    if (sent.has(sha256)) return true
    sent.add(sha256)
    const [oldest] = sent
    if (sent.size > 10_000 && oldest !== undefined) sent.delete(oldest)
    return false
  }
}

/** False: there are no such bytes. */
async function writeBytes(blobs: Pick<Blobs, 'open'>, sha256: string, size: number, into: Writable): Promise<boolean> {
  using blob = await blobs.open(sha256)
  await using handle = await openIfThere(blob.path)
  if (handle === null) return false
  for (let n = 0; n * PART_BYTES < Math.max(size, 1); n += 1) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(PART_BYTES), 0, PART_BYTES, n * PART_BYTES)
    await write(into, `${bytesLine({ sha256, size, n, data: buffer.subarray(0, bytesRead) })}\n`)
  }
  return true
}

const RECORDS_PER_LINE = 500

/** What belongs to no session: grants, policies that operators allowed, tasks, what agents keep about users, usage, and the audit trail. */
async function* otherLines(stored: Pick<ReadOnlyStore, 'read'>, now: number): AsyncGenerator<string> {
  const { grants, pins, instructions, notes } = await stored.read(async (store) => ({
    notes: (await Promise.all(notePlaces.map((place) => store.outbox.notes(place)))).flat(),
    grants: await store.grants.list({ now }),
    pins: await store.supervised.pins(),
    instructions: await store.supervised.instructions({ kind: 'task', isWaiting: true, limit: 1_000_000 }),
  }))
  const tasks = instructions.filter(({ sessionId }) => sessionId === null)
  for (const [name, records] of Object.entries({ grants, pins, instructions: tasks, notes })) {
    for (let i = 0; i < records.length; i += RECORDS_PER_LINE) {
      yield JSON.stringify({ records: { [name]: records.slice(i, i + RECORDS_PER_LINE) } })
    }
  }
  let usage: UsageRow[] = []
  do {
    const last = usage.at(-1) ?? null
    usage = await stored.read((store) => store.usage.rows(last, RECORDS_PER_LINE))
    if (usage.length > 0) yield JSON.stringify({ records: { usage } })
  } while (usage.length === RECORDS_PER_LINE)
  yield* auditLines(stored)
}

/**
 * The audit trail: all chains and their ties, each up to where it ended at one moment. A later tie would name entries of a chain that was
 * read before they were written, and a check of the export would miss them.
 */
export async function* auditLines(stored: Pick<ReadOnlyStore, 'read'>): AsyncGenerator<string> {
  for (const { chain, n: end } of await stored.read((store) => store.audit.ends())) {
    for await (const page of auditPages(auditIn(stored), chain)) {
      const audit = page.filter(({ n }) => n <= end)
      if (audit.length > 0) yield JSON.stringify({ audit })
      if (audit.length < page.length) break
    }
  }
}

/** Waits for the reader: an archive can be larger than memory. */
export function write(into: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    into.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** Leaves a complete file or none, also after Ctrl-C. Only this user can read it: it holds conversations. */
export async function writeNewFile<T>(
  path: string,
  shown: string,
  io: Io,
  fill: (file: Writable) => Promise<T>,
): Promise<T> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  const closed = finished(file)
  let created = false
  file.once('open', () => {
    created = true
  })
  let stopped: CliError | null = null
  const stopListening = io.onSignal((signal) => {
    const { code } = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated
    stopped = new CliError(code, `Stopped. ${shown} was not written.`)
    file.destroy(stopped)
  })
  try {
    const [result] = await Promise.all([fill(file).finally(() => file.end()), closed])
    return result
  } catch (error) {
    await closed.catch(() => {})
    if (systemErrorCode(error) === 'EEXIST') {
      throw cannotCreate(`${shown} already exists and was not changed.`, ['Choose another file: --output <file>'])
    }
    if (created) await rm(path, { force: true })
    throw stopped ?? error
  } finally {
    stopListening()
  }
}

/** Also the sessions that lists hide: a backup without them would be incomplete. */
async function allSessions(store: StoreReads, owner: string | undefined): Promise<Iterable<string>> {
  const ids = createIdList()
  for await (const { id } of eachSession(store, owner, true)) ids.add(id)
  return ids
}

/** A million ids are 16 MB here, and five times as much as strings. */
function createIdList() {
  let bytes = Buffer.alloc(16 * 1024)
  let length = 0
  return {
    add(id: string): void {
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
      bytes.write(id.replaceAll('-', ''), length, 'hex')
      length += 16
    },
    *[Symbol.iterator](): Generator<string> {
      for (let i = 0; i < length; i += 16) {
        const hex = bytes.toString('hex', i, i + 16)
        yield hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
      }
    },
  }
}

/** The ids of the named sessions, each once, in the given order. */
async function findSessions(
  store: StoreReads,
  owner: string | undefined,
  references: readonly string[],
): Promise<string[]> {
  const found = new Set<string>()
  for (const reference of references) {
    const byId = await sessionById(store, owner, reference)
    const [session, ...others] = byId === null ? await sessionsByName(store, owner, reference) : [byId]
    if (session === undefined) {
      const nobody = owner === undefined ? 'There is' : `${owner} has`
      throw usageError(`${nobody} no session ${JSON.stringify(reference)}.`, [
        'To see all sessions: quarterdeck sessions list',
      ])
    }
    if (others.length > 0) {
      const owners = [session, ...others].map((one) => one.owner).join(', ')
      throw usageError(`Several users have a session ${JSON.stringify(reference)}: ${owners}.`, [
        'Name the user with --owner <name>, or give the id of the session.',
      ])
    }
    found.add(session.id)
  }
  return [...found]
}

async function sessionById(store: StoreReads, owner: string | undefined, text: string): Promise<SessionRecord | null> {
  const id = parseUuid(text)
  const session = id === null ? null : await store.sessions.get(id)
  if (session === null || session.status === 'terminated') return null
  return owner === undefined || session.owner === owner ? session : null
}

/** Each user chooses names for their own sessions, so without an owner a name can stand for several. */
async function sessionsByName(store: StoreReads, owner: string | undefined, name: string): Promise<SessionRecord[]> {
  if (owner !== undefined) {
    const session = await store.sessions.byAlias(owner, name)
    return session === null ? [] : [session]
  }
  const found: SessionRecord[] = []
  for await (const session of eachSession(store, undefined, true)) if (session.alias === name) found.push(session)
  return found
}
