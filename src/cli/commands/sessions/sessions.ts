import { Command } from 'commander'
import { ServerError } from '../../../domain/errors.ts'
import type { Store } from '../../../store/store.ts'
import { CliError } from '../../cli-error.ts'
import { dataDirectory, withStore, withStoredData } from '../../data-directory.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, Settle } from '../../terminal/io.ts'
import { exportSessions } from './export.ts'
import { importSessions } from './import.ts'
import { listSessions } from './list.ts'
import { cutoff, listPurgeable, purgeSessions } from './purge.ts'

interface Shared {
  dataDir?: string
}

interface PurgeOptions {
  olderThan: string
  dryRun?: boolean
}

export function createSessionsCommand(io: Io, settle: Settle): Command {
  const command = new Command('sessions')
    .summary('list, export, import and purge stored conversations')
    .description(
      'Works on a data directory. list, export and purge --dry-run also work while a server uses it; import and purge do not.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck sessions list
  $ quarterdeck sessions export --output backup.jsonl
  $ quarterdeck sessions import backup.jsonl --data-dir /var/lib/quarterdeck
  $ quarterdeck sessions purge --older-than 30d --dry-run`,
    )
  const add = (name: string, summary: string) =>
    command
      .command(name)
      .description(summary)
      .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')
  const OWNER = ['--owner <name>', 'only sessions of this user, as named by a token (default: of all users)'] as const

  add('list', 'Lists sessions, the most recently used first.')
    .option(...OWNER)
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object per line')
    .action(async ({ dataDir, ...options }: Shared & { owner?: string; limit: string; json?: boolean }) =>
      settle(await withStoredData(dataDirectory(dataDir, io), io, (stored) => listSessions(stored, options, io))),
    )

  add('export', 'Writes sessions with everything that belongs to them as JSON Lines.')
    .argument('[sessions...]', 'ids or names (default: all)')
    .option(...OWNER)
    .option('-o, --output <file>', 'a new file that only you can read (default: standard output)')
    .action(async (sessions: string[], { dataDir, ...options }: Shared & { owner?: string; output?: string }) =>
      settle(
        await withStoredData(dataDirectory(dataDir, io), io, (stored) => exportSessions(stored, sessions, options, io)),
      ),
    )

  add('import', 'Reads what export wrote. A session that already exists is refused and stays as it is.')
    .argument('<file>', 'the file, or - for standard input')
    .action(async (file: string, { dataDir }: Shared) =>
      settle(
        await withStoppedServer(dataDirectory(dataDir, io), { create: true, advice: [] }, io, (store) =>
          importSessions(store, file, io),
        ),
      ),
    )

  add('purge', 'Removes sessions of all users that were not used for some time. Keeps sessions with unfinished runs.')
    .requiredOption('--older-than <age>', 'the time since the last use: 12h, 30d')
    .option('--dry-run', 'remove nothing, only list what would be removed')
    .action(async ({ dataDir, olderThan, dryRun }: Shared & PurgeOptions) => {
      // Before anything is opened, so that a wrong age is reported even where there is no data.
      const before = cutoff(olderThan, io.clock.now())
      const directory = dataDirectory(dataDir, io)
      const advice = ['A running server removes old sessions itself, as sessions.retention_days says.']
      settle(
        dryRun
          ? await withStoredData(directory, io, (stored) => listPurgeable(stored, before, io))
          : await withStoppedServer(directory, { create: false, advice }, io, (store) =>
              purgeSessions(store, before, io),
            ),
      )
    })
  return command
}

/** For what changes the store: no route of a running server does it. */
async function withStoppedServer(
  directory: string,
  { create, advice }: { create: boolean; advice: readonly string[] },
  io: Io,
  work: (store: Store) => Promise<number>,
): Promise<number> {
  try {
    return await withStore(directory, { create }, io, work)
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== 'data_dir_locked') throw error
    throw new CliError(exitCodes.cannotCreate.code, `A server, or another command, is using ${directory}.`, [
      'Stop it, run this command again, then start the server.',
      ...advice,
    ])
  }
}
