import { Command } from 'commander'
import { migrateSharedStore } from '../../../app/open-store.ts'
import { silentLogger } from '../../../domain/logger.ts'
import type { Migration } from '../../../store/postgres/schema.ts'
import { usageError } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { shownPlace, storePlace } from '../../store-place.ts'

export function createMigrateCommand({ io }: CommandContext): Command {
  return new Command('migrate')
    .summary('bring the tables of a Postgres database up to date')
    .description(
      'Brings the tables of a Postgres database to this version. A server does the same when it starts. Servers of an older version go on working and may start again, unless --dry-run lists a migration as contract: it says which of them cannot. While such servers run, nothing is changed.',
    )
    .option('--store <url>', 'the Postgres database (env: QUARTERDECK_STORE)')
    .option('--dry-run', 'change nothing, only list what is missing: expand only adds, contract takes something away')
    .option('--force', 'change the tables also while servers run that cannot use them afterwards')
    .addHelpText('after', examples('migrate --dry-run', 'migrate --store postgres://deck@localhost/quarterdeck'))
    .action(async (options: { store?: string; dryRun?: boolean; force?: boolean }) => {
      const place = await storePlace(options, io)
      if (!('url' in place)) {
        throw usageError('Set QUARTERDECK_STORE to the address of the Postgres database.', [
          'If the address has no password, --store postgres://user@host/database does it too.',
          'The SQLite database of a data directory is updated when the server starts.',
        ])
      }
      const isTrial = options.dryRun === true
      const { from, to, missing, unknown, shutOut } = await migrateSharedStore({
        url: place.url,
        apply: !isTrial,
        force: options.force === true,
        clock: io.clock,
        log: silentLogger,
      })
      if (isTrial) for (const [i, one] of missing.entries()) io.stdout.write(`${migrationLine(from + i + 1, one)}\n`)
      const shown = shownPlace(place)
      const outcome = isTrial ? 'would be' : 'was'
      if (missing.length > 0) io.stderr.write(`${shown} ${outcome} updated from version ${from} to ${to}.\n`)
      else if (unknown === 0) io.stderr.write(`${shown} is up to date: version ${to}.\n`)
      else {
        io.stderr.write(
          `${shown} is at version ${from}, from a newer Quarterdeck. This one knows version ${from - unknown} and can still use it.\n`,
        )
      }
      if (isTrial && shutOut > 0) io.stderr.write(`${shutOutLine(shutOut)}\n`)
    })
}

/** A line of `--dry-run`. */
export function migrationLine(n: number, { title, needs }: Migration): string {
  if (needs === undefined) return `${n}  expand    ${title}`
  return `${n}  contract  ${title}; servers that do not know version ${needs} can no longer use the database`
}

/** What `--dry-run` says about servers that run now. */
export const shutOutLine = (servers: number): string =>
  `${servers === 1 ? '1 server runs' : `${servers} servers run`} that cannot use the database after that. The update would be refused now, unless you add --force.`
