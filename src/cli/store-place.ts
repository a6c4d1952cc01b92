// Which store a command works on: SQLite in a data directory, or a Postgres database.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { openSharedReads, openSharedStore } from '../app/open-store.ts'
import { createSourceFinder } from '../config/settings/setting-source.ts'
import { findSettingsFile } from '../config/settings/settings-yaml.ts'
import { diskFiles } from '../config/source/config-files.ts'
import { readEnvironment } from '../config/source/env-file.ts'
import { createIds } from '../domain/ids.ts'
import { silentLogger } from '../domain/logger.ts'
import { shownStore } from '../domain/settings/store-settings.ts'
import type { SharedBlobs } from '../domain/shared-blobs.ts'
import type { AuditRecord } from '../domain/supervision/audit.ts'
import { type Blobs, createBlobFolder } from '../files/keep/blob-folder.ts'
import { createCachedBlobs } from '../files/keep/cached-blobs.ts'
import type { ReadOnlyStore, Store } from '../store/store.ts'
import { usageError } from './cli-error.ts'
import { closedAfter, withStore, withStoredData } from './data-directory.ts'
import { chosenDataDir } from './running-server.ts'
import type { Io } from './terminal/io.ts'

export interface StoreFlags {
  store?: string | undefined
  dataDir?: string | undefined
}

export const dataDirFlag = [
  '--data-dir <folder>',
  'the data directory (default: .quarterdeck here, or that of the only server that runs; env: QUARTERDECK_DATA_DIR)',
] as const
const storeFlag = ['--store <url>', 'a Postgres database instead of a data directory (env: QUARTERDECK_STORE)'] as const

/** A command below another one that works on a store. */
export const addStoreCommand = (parent: Command, name: string, summary: string): Command =>
  parent
    .command(name)
    .description(summary)
    .option(...dataDirFlag)
    .option(...storeFlag)

export type StorePlace = { dataDir: string } | { url: string }

/**
 * A flag counts more than the environment, so that one store can be named by each: the source and the target of a move. Then counts what
 * a server in this folder would read: `.env` and quarterdeck.yaml.
 */
export async function storePlace(flags: StoreFlags, io: Io): Promise<StorePlace> {
  const named = flags.store ?? (flags.dataDir === undefined ? configuredStore(io) : undefined)
  if (named === undefined || named === 'sqlite') return { dataDir: await chosenDataDir(flags.dataDir, io) }
  if (!/^postgres(ql)?:\/\/\S+$/.test(named)) {
    throw usageError(`The store ${JSON.stringify(shownStore(named))} cannot be opened.`, [
      'Write sqlite, or postgres://user@host/database.',
    ])
  }
  if (flags.store !== undefined && shownStore(named) !== named) {
    throw usageError('Everybody on this machine can read a password in a flag.', ['Set QUARTERDECK_STORE instead.'])
  }
  return { url: named }
}

function configuredStore({ cwd, env: given }: Io): string | undefined {
  const { env } = readEnvironment(cwd, given, diskFiles)
  const raw = createSourceFinder({ flags: {}, env, file: findSettingsFile(cwd) }).find('store')?.raw
  return typeof raw === 'string' ? raw : undefined
}

/** For people. */
export const shownPlace = (place: StorePlace): string => ('url' in place ? shownStore(place.url) : place.dataDir)

/** Keeps copies of files only while a command works with them. */
const CACHE_BYTES = 200_000_000

async function withCache<T>(shared: SharedBlobs, work: (blobs: Blobs) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'quarterdeck-files-'))
  await using _removed = closedAfter({ close: () => rm(dir, { recursive: true, force: true }) })
  const newId = createIds(Date.now).uuid
  return await work(createCachedBlobs({ shared, dir, maxBytes: CACHE_BYTES, newId, log: silentLogger }))
}

const filesIn = (dataDir: string): Blobs => createBlobFolder(join(dataDir, 'files'))

/** Runs `work` on what is stored, whether servers run or not. */
export async function withStoredIn<T>(
  place: StorePlace,
  io: Io,
  work: (stored: Pick<ReadOnlyStore, 'read'>, blobs: Blobs) => Promise<T>,
): Promise<T> {
  if ('dataDir' in place) {
    return await withStoredData(place.dataDir, io, (stored) => work(stored, filesIn(place.dataDir)))
  }
  return await withSharedReads(place, io, ({ stored, blobs }) => withCache(blobs, (cached) => work(stored, cached)))
}

/** Runs `work` on what is stored in a Postgres database, and changes nothing there. */
export async function withSharedReads<T>(
  { url }: { url: string },
  io: Io,
  work: (reads: Awaited<ReturnType<typeof openSharedReads>>) => Promise<T>,
): Promise<T> {
  const reads = await openSharedReads({ url, clock: io.clock, log: silentLogger })
  await using _closed = closedAfter(reads)
  if (reads.unknown > 0) {
    io.stderr.write(
      'quarterdeck: A newer version has changed this database. What it has added is left out here: use that version.\n',
    )
  }
  return await work(reads)
}

/** Runs `work` on a Postgres database, beside the servers. */
export async function withSharedStore<T>(
  { url }: { url: string },
  io: Io,
  work: (shared: Awaited<ReturnType<typeof openSharedStore>>) => Promise<T>,
): Promise<T> {
  const opened = await openSharedStore({ url, clock: io.clock, log: silentLogger })
  await using _closed = closedAfter(opened.store)
  return await work(opened)
}

/** Resolves when the record is as durable as the store makes it. */
export async function writeAudit(store: Pick<Store, 'commit'>, record: AuditRecord): Promise<void> {
  const { results, synced } = await store.commit([{ type: 'add_audit', audit: [record] }])
  for (const result of results) if (!result.ok) throw result.error
  await synced
}

/** Runs `work` on the store: on SQLite while no server uses it, on Postgres beside the servers. */
export async function withStoreIn<T>(
  place: StorePlace,
  options: { create: boolean },
  io: Io,
  work: (store: Store, blobs: Blobs) => Promise<T>,
): Promise<T> {
  if ('dataDir' in place) {
    return await withStore(place.dataDir, options, io, (store) => work(store, filesIn(place.dataDir)))
  }
  return await withSharedStore(place, io, ({ store, blobs }) => withCache(blobs, (cached) => work(store, cached)))
}
