// An import that is killed at each of its steps and then repeated, for every kind of store.

import { expect } from 'vitest'
import { openStore } from '../../app/open-store.ts'
import { createIds } from '../../domain/ids.ts'
import { importedMain, MAIN_CHAIN } from '../../domain/supervision/audit.ts'
import type { Blobs } from '../../files/keep/blob-folder.ts'
import { createBlobFolder } from '../../files/keep/blob-folder.ts'
import type { Store } from '../../store/store.ts'
import { compareSessions } from '../commands/sessions/compare.ts'
import { exportSessions } from '../commands/sessions/export.ts'
import { importSessions } from '../commands/sessions/import.ts'
import { Killed, killedAfter } from './dying-target.ts'
import { fillStore } from './full-store.ts'
import { sampleSession } from './sample-session.ts'
import { createTestIo } from './test-io.ts'

interface Place {
  store: Store
  blobs: Blobs
}

/** More than an import commits at once. */
const SESSIONS = 26

/** A data directory with everything that a move brings along, and with one session more than this. */
export async function openFullPlace(dataDir: string, sessions = SESSIONS): Promise<Place> {
  const place = { store: openStore({ dataDir, fatal() {} }), blobs: createBlobFolder(`${dataDir}/files`) }
  await fillStore(place.store, place.blobs)
  const more = Array.from({ length: sessions - 2 }, (_, i) => sampleSession(i + 3))
  await (await place.store.commit(more.map((session) => ({ type: 'import_session', ...session })))).synced
  return place
}

const sourceOf = ({ store, blobs }: Place) => ({
  stored: { read: <T>(work: (reads: Store) => Promise<T>) => work(store) },
  blobs,
})

/** Everything of a store, as text. */
export async function archiveOf(place: Place): Promise<string> {
  const io = createTestIo()
  await exportSessions(sourceOf(place), [], { all: true }, io)
  return io.printed()
}

const { uuid: newId } = createIds(Date.now)

/** Resolves with what was said, or null if the process was killed before the end. */
async function importFrom(
  archive: string,
  { store, blobs }: Pick<Parameters<typeof importSessions>[0], 'store' | 'blobs'>,
) {
  const io = createTestIo({ stdin: archive })
  try {
    const exitCode = await importSessions({ store, blobs, newId }, '-', { all: true }, io)
    return { exitCode, said: io.complained() }
  } catch (error) {
    if (error instanceof Killed) return null
    throw error
  }
}

/** Kills imports after one step more each time, each into a new store, and repeats each of them. Returns how many were killed. */
export async function killImportsIntoNew(archive: string, open: () => Promise<Place>): Promise<number> {
  for (let n = 1; ; n += 1) {
    const place = await open()
    if (!(await killImport(archive, place, n))) return n - 1
    await expectWhole(archive, place, `killed after step ${n}`)
  }
}

/** The same into one store: each import gets one step further than the one before, and only the last one is not killed. */
export async function killImportsInto(archive: string, place: Place): Promise<number> {
  let n = 1
  while (await killImport(archive, place, n)) n += 1
  await expectWhole(archive, place, `killed ${n - 1} times`)
  return n - 1
}

/** False: it has fewer steps. */
async function killImport(archive: string, place: Place, step: number): Promise<boolean> {
  const target = killedAfter(place, step)
  const whole = await importFrom(archive, target)
  await target.bury()
  return whole === null
}

/** After one more import everything is there, once. */
async function expectWhole(archive: string, place: Place, why: string): Promise<void> {
  expect(await importFrom(archive, place), why).toMatchObject({ exitCode: 0 })
  const io = createTestIo({ stdin: archive })
  const exitCode = await compareSessions(sourceOf(place), '-', io)
  expect({ why, exitCode, out: io.printed(), err: io.complained() }).toEqual({
    ...{ why, exitCode: 0, out: '' },
    err: expect.stringMatching(new RegExp(`^Nothing differs: ${SESSIONS + 1} sessions, .+ are the same\\.\\n$`)),
  })
  const chains = archivedChains(archive)
  expect([why, ...(await importedChains(place, chains))]).toEqual([why, ...chains])
}

/** As the target calls them. */
function archivedChains(archive: string): string[] {
  const lines = archive.split('\n').filter((line) => line.startsWith('{"audit"'))
  const firsts = lines.map((line): { chain: string; hash: string; n: number } => JSON.parse(line).audit[0])
  return firsts.filter(({ n }) => n === 1).map(({ chain, hash }) => (chain === MAIN_CHAIN ? importedMain(hash) : chain))
}

/** The chains of which the trail of this store says that they were imported here, in order, as often as it says so. */
async function importedChains({ store }: Place, theirs: readonly string[]): Promise<string[]> {
  const own = (await store.audit.chains()).filter((chain) => !theirs.includes(chain))
  const pages = await Promise.all(own.map((chain) => store.audit.entries(0, 1_000, chain)))
  const texts = pages.flat().map(({ text }) => text)
  return texts
    .filter((text) => text.includes('trail_imported'))
    .map((text) => JSON.parse(text).details.head.split(':')[0])
}
