import { Command } from 'commander'
import type { AuditReads } from '../../../store/ports/audit.ts'
import { dataDirectory, withStoredData } from '../../data-directory.ts'
import type { Io, Settle } from '../../terminal/io.ts'
import { listAudit } from './list.ts'
import { verifyAudit } from './verify.ts'

interface Shared {
  dataDir?: string
}

export function createAuditCommand(io: Io, settle: Settle): Command {
  const command = new Command('audit')
    .summary('list and verify the trail of decisions and calls')
    .description(
      'Every decision and every call with side effects is an entry of the audit trail. Hashes chain the entries. Works on a data ' +
        'directory, also while a server uses it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck audit list --limit 20
  $ quarterdeck audit verify --data-dir /var/lib/quarterdeck
  $ quarterdeck audit verify --contains 5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef`,
    )
  const add = (name: string, summary: string) =>
    command
      .command(name)
      .description(summary)
      .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')

  const withTrail = (dataDir: string | undefined, work: (trail: AuditReads) => Promise<number>): Promise<number> =>
    withStoredData(dataDirectory(dataDir, io), io, (stored) => stored.read((store) => work(store.audit)))

  add('list', 'Lists the newest entries, oldest first.')
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object per line')
    .action(async ({ dataDir, ...options }: Shared & { limit: string; json?: boolean }) =>
      settle(await withTrail(dataDir, (trail) => listAudit(trail, options, io))),
    )

  add('verify', 'Recomputes every hash. Ends with 1 when an entry was changed, removed or inserted.')
    .option('--expect <hash>', 'the last entry must have this hash: nothing was cut off or added since you noted it')
    .option(
      '--contains <hash>',
      'an entry must have this hash: nothing up to it was cut off, and there may be newer entries',
    )
    .addHelpText(
      'after',
      `
A chain alone cannot show that its end was cut off. Keep the head that verify prints in another place, and pass it to
--expect or --contains the next time.`,
    )
    .action(async ({ dataDir, ...options }: Shared & { expect?: string; contains?: string }) =>
      settle(await withTrail(dataDir, (trail) => verifyAudit(trail, options, io))),
    )
  return command
}
