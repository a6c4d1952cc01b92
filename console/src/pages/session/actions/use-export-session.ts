import { useCallback } from 'react'
import { useClient } from '../../../data/server.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { saveFile } from '../../../parts/save-file.ts'

/** Saves a session as a JSON file on the reader's machine. */
export function useExportSession(): (id: string) => void {
  const client = useClient()
  return useCallback(
    (id: string) => {
      client.sessions.export(id).then(
        (document) => saveFile(`session-${id}.json`, [JSON.stringify(document, null, 2)], 'application/json'),
        (error: unknown) => announce(`The export failed. ${error instanceof Error ? error.message : ''}`),
      )
    },
    [client],
  )
}
