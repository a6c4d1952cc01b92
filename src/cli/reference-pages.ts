// The pages of docs/look-up that are made from what only the CLI may import. `npm run generate` writes them.

import { posix } from 'node:path'
import type { Command } from 'commander'
import { fillPage, markdownTable } from '../config/generate.ts'
import { errorCodes } from '../domain/errors.ts'
import { errorGroups, errorHelp } from '../http/error-help.ts'
import { statusOf } from '../http/status.ts'
import { fillCommands } from './command-tables.ts'

/** The new content of each page, given its current content. */
export const referencePages = (program: Command): Readonly<Record<string, (current: string) => string>> => ({
  'docs/look-up/errors.md': (page) => fillPage(page, errorTables),
  'docs/look-up/cli.md': (page) => fillCommands(page, program),
})

/** One table a group. Each row has its code as an anchor. */
function errorTables(): string {
  return errorGroups
    .map(({ title, help }) => {
      const codes = errorCodes.filter((code) => Object.hasOwn(help, code))
      const rows = codes.map((code) => {
        const { means, todo, page } = errorHelp[code]
        const more = page === undefined ? '' : ` [${posix.basename(page, '.md')}](${posix.relative('look-up', page)})`
        return [`<a id="${code}"></a>\`${code}\` ${statusOf[code]}`, means, `${todo}${more}`]
      })
      return `## ${title}\n\n${markdownTable(['code, status', 'means', 'what to do'], rows)}`
    })
    .join('\n')
}
