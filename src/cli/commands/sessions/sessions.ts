import { Command } from 'commander'
import { createIds } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Blobs } from '../../../files/keep/blob-folder.ts'
import type { ReadOnlyStore, Store } from '../../../store/store.ts'
import { cannotCreate } from '../../cli-error.ts'
import { type CommandContext, examples, timeAgo } from '../../command.ts'
import { isLocked } from '../../data-directory.ts'
import {
  addStoreCommand,
  type StoreFlags,
  type StorePlace,
  shownPlace,
  storePlace,
  withStoredIn,
  withStoreIn,
} from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'
import { compareSessions } from './compare.ts'
import { exportSessions } from './export.ts'
import { importSessions } from './import.ts'
import { eachSession, listSessions, sessionTable } from './list.ts'

export function createSessionsCommand({ io, settle }: CommandContext): Command {
  const command = new Command('sessions')
    .summary('list, export, import, compare and delete stored conversations')
    .description(
      'Works on a data directory or a Postgres database. On a data directory, import and delete need the server to be stopped; everything else works beside it.',
    )
    .addHelpText(
      'after',
      examples(
        'sessions list',
        'sessions export --output backup.jsonl',
        'sessions import backup.jsonl --data-dir /var/lib/quarterdeck',
        'sessions export --all --data-dir /var/lib/quarterdeck | quarterdeck sessions import --all - --store postgres://localhost/quarterdeck',
        'sessions delete --older-than 30d --dry-run',
      ),
    )
  const add = (name: string, summary: string) => addStoreCommand(command, name, summary)
  const OWNER = ['--owner <name>', 'only sessions of this user, as named by a token (default: of all users)'] as const

  add('list', 'Lists sessions, the most recently used first.')
    .option(...OWNER)
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object per line')
    .action(async (options: StoreFlags & { owner?: string; limit: string; json?: boolean }) => {
      await withStoredIn(await storePlace(options, io), io, (stored) => listSessions(stored, options, io))
    })

  add('export', 'Writes sessions with everything that belongs to them as JSON Lines.')
    .argument('[sessions...]', 'ids or names (default: all)')
    .option(...OWNER)
    .option(
      '--all',
      'everything: also grants, allowed policies, tasks, what agents remember, usage and the audit trail',
    )
    .option('-o, --output <file>', 'a new file that only you can read (default: standard output)')
    .action(async (sessions: string[], options: StoreFlags & { owner?: string; output?: string; all?: boolean }) =>
      withStoredIn(await storePlace(options, io), io, (stored, blobs) =>
        exportSessions({ stored, blobs }, sessions, options, io),
      ),
    )

  add(
    'import',
    'Reads what export wrote. A session that exists is not changed: it is skipped if it is the same, and refused if it differs.',
  )
    .argument('<file>', 'the file, or - for standard input')
    .option('--all', 'also the grants, allowed policies, tasks, usage and audit trail of an export with --all')
    .action(async (file: string, options: StoreFlags & { all?: boolean }) =>
      settle(
        await withStoppedServer(await storePlace(options, io), { create: true, advice: [] }, io, (store, blobs) =>
          importSessions({ store, blobs, newId: createIds(io.clock.now).uuid }, file, options, io),
        ),
      ),
    )

  add('compare', 'Compares what export wrote with the store, and says what is missing or different. Changes nothing.')
    .argument('<file>', 'the file, or - for standard input')
    .action(async (file: string, options: StoreFlags) =>
      settle(
        await withStoredIn(await storePlace(options, io), io, (stored, blobs) =>
          compareSessions({ stored, blobs }, file, io),
        ),
      ),
    )

  add('delete', 'Removes sessions of all users that were not used for some time. Keeps sessions with unfinished runs.')
    .requiredOption('--older-than <age>', 'the time since the last use: 12h, 30d')
    .option('--dry-run', 'remove nothing, only list what would be removed')
    .action(async ({ olderThan, dryRun, ...options }: StoreFlags & { olderThan: string; dryRun?: boolean }) => {
      // Before anything is opened, so that a wrong age is reported even where there is no data.
      const before = timeAgo('--older-than', olderThan, 'Write 12h or 30d, for example.', io.clock.now())
      const place = await storePlace(options, io)
      const advice = ['A running server removes old sessions itself, as sessions.retention_days says.']
      if (dryRun) await withStoredIn(place, io, (stored) => listPurgeable(stored, before, io))
      else await withStoppedServer(place, { create: false, advice }, io, (store) => purgeSessions(store, before, io))
    })
  return command
}

/** For what changes the store. A data directory belongs to one process; no route of a running server does it. */
async function withStoppedServer<T>(
  place: StorePlace,
  { create, advice }: { create: boolean; advice: readonly string[] },
  io: Io,
  work: (store: Store, blobs: Blobs) => Promise<T>,
): Promise<T> {
  try {
    return await withStoreIn(place, { create }, io, work)
  } catch (error) {
    if (!isLocked(error)) throw error
    throw cannotCreate(`A server, or another command, is using ${shownPlace(place)}.`, [
      'Stop it, run this command again, then start the server.',
      ...advice,
    ])
  }
}

/** Few enough to keep a transaction short. */
const BATCH = 200

/** Lists what a purge would remove: of all users, also the sessions that lists hide. */
async function listPurgeable(stored: Pick<ReadOnlyStore, 'read'>, before: number, io: Io): Promise<void> {
  const going: SessionRecord[] = []
  await stored.read(async (store) => {
    for await (const session of eachSession(store, undefined, true)) {
      if (session.lastActivity < before && (await store.runs.open(session.id)).length === 0) going.push(session)
    }
  })
  if (going.length > 0) io.stdout.write(sessionTable(going, undefined))
  io.stderr.write(`${counted(going.length, 'session')} would be removed.\n`)
}

async function purgeSessions(store: Pick<Store, 'commit'>, before: number, io: Io): Promise<void> {
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
  io.stderr.write(`Removed ${counted(removed, 'session')}.\n`)
}
