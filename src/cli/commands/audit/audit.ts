import { Command } from 'commander'
import { dataDirectory, withStore } from '../../data-directory.ts'
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
      'Every decision and every call with side effects is an entry of the audit trail, chained by hashes. Works on the data ' +
        'directory of a server that is not running.',
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

  add('list', 'Lists the newest entries, the oldest of them first.')
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'one JSON object a line')
    .action(async ({ dataDir, ...options }: Shared & { limit: string; json?: boolean }) =>
      settle(
        await withStore(dataDirectory(dataDir, io), { create: false }, io, (store) =>
          listAudit(store.audit, options, io),
        ),
      ),
    )

  add('verify', 'Recomputes every hash; ends with 1 when an entry was changed, taken out or put in.')
    .option('--expect <hash>', 'the last entry must have this hash: nothing was cut off or added since it was noted')
    .option('--contains <hash>', 'an entry must have this hash: nothing up to there was cut off, more may have come')
    .addHelpText(
      'after',
      `
A chain cannot show by itself that its end was cut off. Note the head that verify prints somewhere else, and give it to
--expect or --contains the next time.`,
    )
    .action(async ({ dataDir, ...options }: Shared & { expect?: string; contains?: string }) =>
      settle(
        await withStore(dataDirectory(dataDir, io), { create: false }, io, (store) =>
          verifyAudit(store.audit, options, io),
        ),
      ),
    )
  return command
}
