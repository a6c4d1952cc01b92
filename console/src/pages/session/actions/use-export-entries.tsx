import { useClient } from '../../../data/server.tsx'
import { errorText } from '../../../error-text.ts'
import { announce } from '../../../parts/Announcer.tsx'
import { ExportIcon } from '../../../parts/icons.ts'
import type { MenuEntry } from '../../../parts/Menu.tsx'
import { saveFile } from '../../../parts/save-file.ts'
import { counted } from '../../../words.ts'

/**
 * For a menu. They save sessions in one file on the reader's machine: one after the other, so that a busy server does not have to read
 * many at once.
 */
export function useExportEntries(ids: readonly string[], whyNot: string | null = null): MenuEntry[] {
  const { sessions } = useClient()
  const name = ids.length === 1 ? `session-${ids[0]}` : `${ids.length}-sessions`
  async function saveMarkdown(): Promise<void> {
    const texts: string[] = []
    for (const id of ids) texts.push(await sessions.exportMarkdown(id))
    saveFile(`${name}.md`, [texts.join('\n---\n\n')], 'text/markdown')
  }
  async function saveJson(): Promise<void> {
    const documents: unknown[] = []
    for (const id of ids) documents.push(await sessions.export(id))
    const content = documents.length === 1 ? documents[0] : documents
    saveFile(`${name}.json`, [JSON.stringify(content, null, 2)], 'application/json')
  }
  const entry = (format: string, save: () => Promise<void>): MenuEntry => ({
    name: `Export as ${format}`,
    icon: <ExportIcon />,
    run: () =>
      void save().then(
        () => announce(`Exported ${counted(ids.length, 'session')}`),
        (error: unknown) => announce(`The export failed. ${errorText(error)}`),
      ),
    whyNot,
  })
  return [entry('Markdown', saveMarkdown), entry('JSON', saveJson)]
}
