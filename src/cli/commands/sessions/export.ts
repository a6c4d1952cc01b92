import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { parseUuid } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { StoreReads } from '../../../store/store-reads.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { exportSession } from './export-session.ts'
import { eachSession } from './list.ts'
import { archiveHeader, archiveLine } from './session-archive.ts'

export async function exportSessions(
  store: StoreReads,
  references: readonly string[],
  { owner, output }: { owner?: string; output?: string },
  io: Io,
): Promise<number> {
  // A backup that left something out would be none.
  const all = { unlisted: true, ...(owner === undefined ? {} : { owner }) }
  const chosen = references.length === 0 ? eachSession(store, all) : await findSessions(store, owner, references)
  let count = 0
  if (output === undefined) {
    count = await writeArchive(store, chosen, io.stdout, io)
  } else {
    count = await writeNewFile(resolve(io.cwd, output), output, (file) => writeArchive(store, chosen, file, io))
  }
  io.stderr.write(
    `Exported ${count} ${count === 1 ? 'session' : 'sessions'}${owner === undefined ? '' : ` of ${owner}`}.\n`,
  )
  return exitCodes.ok.code
}

async function writeArchive(
  store: StoreReads,
  sessions: Iterable<SessionRecord> | AsyncIterable<SessionRecord>,
  into: Writable,
  io: Io,
): Promise<number> {
  let count = 0
  await writeLine(into, archiveHeader(io.clock.now()))
  for await (const session of sessions) {
    await writeLine(into, archiveLine(await exportSession(store, session)))
    count += 1
  }
  return count
}

/** Waits for the reader: an archive may be larger than memory. */
function writeLine(into: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    into.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

/** A file that is either whole or not there, and that only this user can read: it holds what people said. */
async function writeNewFile<T>(path: string, shown: string, write: (file: Writable) => Promise<T>): Promise<T> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  const closed = finished(file)
  try {
    const [result] = await Promise.all([write(file).finally(() => file.end()), closed])
    return result
  } catch (error) {
    await closed.catch(() => {})
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new CliError(exitCodes.cannotCreate.code, `${shown} exists already and was left as it is.`, [
        'Choose another file: --output <file>',
      ])
    }
    await rm(path, { force: true })
    throw error
  }
}

/** Each once, in the order they were named. */
async function findSessions(
  store: StoreReads,
  owner: string | undefined,
  references: readonly string[],
): Promise<Iterable<SessionRecord>> {
  const found = new Map<string, SessionRecord>()
  for (const reference of references) {
    const byId = await sessionById(store, owner, reference)
    const [session, ...others] = byId === null ? await sessionsByName(store, owner, reference) : [byId]
    if (session === undefined) {
      const nobody = owner === undefined ? 'There is' : `${owner} has`
      throw new CliError(exitCodes.usage.code, `${nobody} no session ${JSON.stringify(reference)}.`, [
        'See them: quarterdeck sessions list',
      ])
    }
    if (others.length > 0) {
      const owners = [session, ...others].map((one) => one.owner).join(', ')
      throw new CliError(exitCodes.usage.code, `Several have a session ${JSON.stringify(reference)}: ${owners}.`, [
        'Say whose: --owner <name>, or give the id.',
      ])
    }
    found.set(session.id, session)
  }
  return found.values()
}

async function sessionById(store: StoreReads, owner: string | undefined, text: string): Promise<SessionRecord | null> {
  const id = parseUuid(text)
  const session = id === null ? null : await store.sessions.get(id)
  if (session === null || session.status === 'terminated') return null
  return owner === undefined || session.owner === owner ? session : null
}

/** A name is its owner's choice, so that without an owner it may mean several. */
async function sessionsByName(store: StoreReads, owner: string | undefined, name: string): Promise<SessionRecord[]> {
  if (owner !== undefined) {
    const session = await store.sessions.byAlias(owner, name)
    return session === null ? [] : [session]
  }
  const found: SessionRecord[] = []
  for await (const session of eachSession(store, { unlisted: true })) if (session.alias === name) found.push(session)
  return found
}
