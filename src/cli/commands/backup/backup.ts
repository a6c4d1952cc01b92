import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { databaseIn } from '../../../app/data-dir.ts'
import { usageError } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { noData } from '../../data-directory.ts'
import { dataDirFlag, storePlace } from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'

const NOT_IN_IT =
  'Not in it: tokens, passkeys and keys (the config folder), agent files, quarterdeck.yaml, .env. Keep those yourself.'

export const createBackupCommand = ({ io }: CommandContext): Command =>
  new Command('backup')
    .summary('copy the database and the files into a new folder, also while the server runs')
    .description(
      'Writes the conversations, attached files, checkpoints and the audit trail of a data directory into a new folder, as they are at ' +
        'one moment. The server may run. Every page and every file is checked, and the folder appears only when it is whole. ' +
        `${NOT_IN_IT} For Postgres, use pg_dump.`,
    )
    .argument('<folder>', 'a new folder; only you can read it')
    .option(...dataDirFlag)
    .addHelpText(
      'after',
      examples(
        'backup /backup/monday',
        'backup /backup/monday --data-dir /var/lib/quarterdeck',
        'restore /backup/monday --data-dir /var/lib/quarterdeck',
      ),
    )
    .action(async (folder: string, options: { dataDir?: string }) => {
      const dataDir = await dataDirOf(options, io)
      if (!existsSync(databaseIn(dataDir))) throw noData(dataDir)
      const target = resolve(io.cwd, folder)
      const { writeBackup } = await import('./backup-folder.ts')
      const { files, bytes } = await writeBackup(dataDir, target, io)
      const size = `${(bytes / 1_000_000).toFixed(1)} MB`
      io.stdout.write(`${target}: the database and ${counted(files, 'file')}, ${size}, checked.\n`)
      io.stderr.write(`${NOT_IN_IT}\n`)
    })

export const createRestoreCommand = ({ io }: CommandContext): Command =>
  new Command('restore')
    .summary('make a data directory from a backup')
    .description(
      'Makes a data directory from what quarterdeck backup has written. It must not exist, or be empty. Everything is checked ' +
        'first, and the folder appears only when it is whole. Tokens are not part of a backup: those of the same path are valid again.',
    )
    .argument('<folder>', 'the backup')
    .option('--data-dir <folder>', 'the new data directory (default: .quarterdeck here; env: QUARTERDECK_DATA_DIR)')
    .addHelpText(
      'after',
      examples(
        'restore /backup/monday --data-dir /var/lib/quarterdeck',
        'restore /backup/monday --data-dir /tmp/restored     a try; then serve with --data-dir /tmp/restored',
      ),
    )
    .action(async (folder: string, options: { dataDir?: string }) => {
      const dataDir = await dataDirOf(options, io)
      const { restoreBackup } = await import('./backup-folder.ts')
      const files = await restoreBackup(resolve(io.cwd, folder), dataDir, io)
      io.stdout.write(`${dataDir}: the database and ${counted(files, 'file')}, checked.\n`)
    })

async function dataDirOf(options: { dataDir?: string }, io: Io): Promise<string> {
  const place = await storePlace(options, io)
  if ('dataDir' in place) return place.dataDir
  throw usageError('The data is in Postgres, which has its own tools: pg_dump and pg_restore.', [
    'How: docs/do/back-up-and-restore.md, "Postgres". For a data directory: --data-dir <folder>',
  ])
}
