import { Command } from 'commander'
import { dataDirectory, withStore } from '../../data-directory.ts'
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
    .description('Works on the data directory of a server that is not running.')
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
  const OWNER = ['--owner <name>', 'whose sessions: the user that a token names (default: everybody’s)'] as const

  add('list', 'Lists sessions, the one used last first.')
    .option(...OWNER)
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object a line')
    .action(async ({ dataDir, ...options }: Shared & { owner?: string; limit: string; json?: boolean }) =>
      settle(
        await withStore(dataDirectory(dataDir, io), { create: false }, io, (store) => listSessions(store, options, io)),
      ),
    )

  add('export', 'Writes sessions with all that belongs to them as JSON Lines.')
    .argument('[sessions...]', 'ids or names (default: all)')
    .option(...OWNER)
    .option('-o, --output <file>', 'a new file, readable by you alone (default: standard output)')
    .action(async (sessions: string[], { dataDir, ...options }: Shared & { owner?: string; output?: string }) =>
      settle(
        await withStore(dataDirectory(dataDir, io), { create: false }, io, (store) =>
          exportSessions(store, sessions, options, io),
        ),
      ),
    )

  add('import', 'Reads what export wrote. A session that exists already is refused and left as it is.')
    .argument('<file>', 'the file, or - for standard input')
    .action(async (file: string, { dataDir }: Shared) =>
      settle(
        await withStore(dataDirectory(dataDir, io), { create: true }, io, (store) => importSessions(store, file, io)),
      ),
    )

  add('purge', 'Removes the sessions of all owners that were not used for a time. Never one with work left to do.')
    .requiredOption('--older-than <age>', 'the time since the last activity: 12h, 30d')
    .option('--dry-run', 'remove nothing, list what would go')
    .action(async ({ dataDir, olderThan, dryRun }: Shared & PurgeOptions) => {
      // Before anything is opened, so that a mistake is one also where there is no data.
      const before = cutoff(olderThan, io.clock.now())
      settle(
        await withStore(dataDirectory(dataDir, io), { create: false }, io, (store) =>
          dryRun ? listPurgeable(store, before, io) : purgeSessions(store, before, io),
        ),
      )
    })
  return command
}
