import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { parseUuid } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Wait } from '../../../domain/wait.ts'
import type { ReadOnlyStore, StoreReads } from '../../../store/store-reads.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { eachSession } from './list.ts'
import { archiveHeader } from './session-archive.ts'

type Stored = Pick<ReadOnlyStore, 'read'>

export async function exportSessions(
  stored: Stored,
  references: readonly string[],
  { owner, output }: { owner?: string; output?: string },
  io: Io,
): Promise<number> {
  // All ids first: a session that is used during the export moves to the top of the list, and a walk through its pages would miss it.
  const ids = await stored.read((store) =>
    references.length === 0 ? allSessions(store, owner) : findSessions(store, owner, references),
  )
  const write = (into: Writable) => writeArchive(stored, ids, into, io)
  const count =
    output === undefined ? await write(io.stdout) : await writeNewFile(resolve(io.cwd, output), output, io, write)
  io.stderr.write(
    `Exported ${count} ${count === 1 ? 'session' : 'sessions'}${owner === undefined ? '' : ` of ${owner}`}.\n`,
  )
  return exitCodes.ok.code
}

/** Returns how many sessions it has written. */
async function writeArchive(stored: Stored, ids: Iterable<string>, into: Writable, io: Io): Promise<number> {
  let count = 0
  await write(into, `${archiveHeader(io.clock.now())}\n`)
  for (const id of ids) {
    // Each session as it is at one moment: a run may be writing to it.
    const isThere = await stored.read(async (store) => {
      const session = await store.sessions.get(id)
      if (session === null || session.status === 'terminated') return false
      for await (const piece of sessionLine(store, session)) await write(into, piece)
      return true
    })
    if (isThere) count += 1
  }
  return count
}

const PAGE = 1000
const PAGE_CHARS = 1_000_000

/**
 * All that the store knows about a session, superseded messages too, as one line in pieces: a session's log can be larger than
 * the memory should be. `readArchiveLine` reads it.
 */
async function* sessionLine(store: StoreReads, session: SessionRecord): AsyncGenerator<string> {
  yield `{"session":${JSON.stringify(session)}`
  yield `,"runs":${JSON.stringify(await store.runs.list(session.id))}`
  yield `,"messages":${JSON.stringify(await store.messages.all(session.id))}`
  yield ',"entries":['
  let seq = 0
  for (;;) {
    const page = await store.entries(session.id, seq, PAGE, PAGE_CHARS)
    const last = page.at(-1)
    if (last === undefined) break
    yield `${seq === 0 ? '' : ','}${page.map((entry) => JSON.stringify(entry)).join(',')}`
    seq = last.seq
  }
  yield `],"waits":${JSON.stringify(await waitsOf(store, session.id))}}\n`
}

/** Oldest first. Grants are left out: they hold only where they were given. */
async function waitsOf(store: StoreReads, sessionId: string): Promise<Wait[]> {
  const waits: Wait[] = []
  for (;;) {
    const before = waits.at(-1)
    const page = await store.waits.list({ sessionId, limit: PAGE, ...(before === undefined ? {} : { before }) })
    waits.push(...page)
    if (page.length < PAGE) return waits.reverse()
  }
}

/** Waits for the reader: an archive can be larger than memory. */
function write(into: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    into.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** Leaves a complete file or none, also after Ctrl-C. Only this user can read it: it holds conversations. */
async function writeNewFile<T>(path: string, shown: string, io: Io, fill: (file: Writable) => Promise<T>): Promise<T> {
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
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CliError(exitCodes.cannotCreate.code, `${shown} already exists and was not changed.`, [
        'Choose another file: --output <file>',
      ])
    }
    if (created) await rm(path, { force: true })
    throw stopped ?? error
  } finally {
    stopListening()
  }
}

/** Also the sessions that lists hide: a backup without them would be incomplete. */
async function allSessions(store: StoreReads, owner: string | undefined): Promise<string[]> {
  const ids: string[] = []
  const choice = { unlisted: true, ...(owner === undefined ? {} : { owner }) }
  for await (const { id } of eachSession(store, choice)) ids.push(id)
  return ids
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
      throw new CliError(exitCodes.usage.code, `${nobody} no session ${JSON.stringify(reference)}.`, [
        'To see all sessions: quarterdeck sessions list',
      ])
    }
    if (others.length > 0) {
      const owners = [session, ...others].map((one) => one.owner).join(', ')
      throw new CliError(
        exitCodes.usage.code,
        `Several users have a session ${JSON.stringify(reference)}: ${owners}.`,
        ['Name the user with --owner <name>, or give the id of the session.'],
      )
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
  for await (const session of eachSession(store, { unlisted: true })) if (session.alias === name) found.push(session)
  return found
}
