import { structuredPatch } from 'diff'
import type { Style } from '../../terminal/style.ts'
import { terminalText } from '../../terminal/terminal-text.ts'
import { backupOf, type FileChange } from './config-file.ts'

/** What will change in the host's config, line by line. */
export function showChanges(changes: readonly FileChange[], style: Style): string {
  return changes.map((change) => `${heading(change, style)}\n${diffLines(change, style).join('\n')}\n`).join('\n')
}

function heading({ path, what, before, after }: FileChange, style: Style): string {
  const how = before === null ? 'new file' : after === null ? 'goes away' : `the old one is kept as ${backupOf(path)}`
  return `${style.bold(terminalText(path))}  ${what} (${how})`
}

function diffLines({ before, after }: FileChange, style: Style): string[] {
  const { hunks } = structuredPatch('', '', before ?? '', after ?? '', undefined, undefined, { context: 2 })
  return hunks.flatMap(({ oldStart, lines }) => [
    style.dim(`  line ${Math.max(1, oldStart)}:`),
    ...lines.map((line) => {
      const text = `  ${terminalText(line)}`
      return line.startsWith('+') ? style.green(text) : line.startsWith('-') ? style.red(text) : text
    }),
  ])
}
