import { useCallback } from 'react'
import { useClient } from '../../../data/server.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { saveFile } from '../../../parts/save-file.ts'
import { counted } from '../../../words.ts'

export type ExportFormat = 'json' | 'markdown'

/** Saves sessions in one file on the reader's machine: one after the other, so that a busy server does not have to read many at once. */
export function useExportSessions(): (ids: readonly string[], format: ExportFormat) => void {
  const client = useClient()
  return useCallback(
    (ids, format) => {
      async function save(): Promise<void> {
        const name = ids.length === 1 ? `session-${ids[0]}` : `${ids.length}-sessions`
        if (format === 'markdown') {
          const texts: string[] = []
          for (const id of ids) texts.push(await client.sessions.exportMarkdown(id))
          saveFile(`${name}.md`, [texts.join('\n---\n\n')], 'text/markdown')
        } else {
          const documents: unknown[] = []
          for (const id of ids) documents.push(await client.sessions.export(id))
          const content = documents.length === 1 ? documents[0] : documents
          saveFile(`${name}.json`, [JSON.stringify(content, null, 2)], 'application/json')
        }
      }
      save().then(
        () => announce(`Exported ${counted(ids.length, 'session')}`),
        (error: unknown) => announce(`The export failed. ${error instanceof Error ? error.message : ''}`),
      )
    },
    [client],
  )
}
