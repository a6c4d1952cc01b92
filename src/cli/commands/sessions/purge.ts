import { secondsOf } from '../../../config/source/duration.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Store } from '../../../store/store.ts'
import type { ReadOnlyStore } from '../../../store/store-reads.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { eachSession, sessionTable } from './list.ts'

/** Few enough to keep a transaction short. */
const BATCH = 200

/** Sessions that were last used before this time are old. */
export function cutoff(age: string, now: number): number {
  const seconds = secondsOf(age)
  if (Number.isNaN(seconds) || seconds <= 0) {
    throw new CliError(exitCodes.usage.code, `--older-than ${JSON.stringify(age)} is not an age.`, [
      'Write 12h or 30d, for example.',
    ])
  }
  return now - seconds * 1000
}

/** Lists what a purge would remove: of all users, also the sessions that lists hide. */
export async function listPurgeable(stored: Pick<ReadOnlyStore, 'read'>, before: number, io: Io): Promise<number> {
  const going: SessionRecord[] = []
  await stored.read(async (store) => {
    for await (const session of eachSession(store, { unlisted: true })) {
      if (session.lastActivity < before && (await store.runs.open(session.id)).length === 0) going.push(session)
    }
  })
  if (going.length > 0) io.stdout.write(sessionTable(going, {}))
  io.stderr.write(`${sessions(going.length)} would be removed.\n`)
  return exitCodes.ok.code
}

export async function purgeSessions(store: Pick<Store, 'commit'>, before: number, io: Io): Promise<number> {
  let removed = 0
  for (;;) {
    const now = io.clock.now()
    const { results, synced } = await store.commit([
      { type: 'purge_sessions', before, unlistedBefore: before, unsentBefore: before, now, limit: BATCH },
    ])
    await synced
    const [result] = results
    if (result === undefined || !result.ok) throw result?.error ?? new Error('the store gave no result')
    removed += result.count ?? 0
    if ((result.count ?? 0) < BATCH) break
  }
  io.stderr.write(`Removed ${sessions(removed)}.\n`)
  return exitCodes.ok.code
}

const sessions = (count: number): string => `${count} ${count === 1 ? 'session' : 'sessions'}`
