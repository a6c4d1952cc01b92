import { useCallback } from 'react'
import { useClient } from '../../../data/server.tsx'
import { announce } from '../../../parts/Announcer.tsx'

/** Saves a session as a JSON file on the reader's machine. */
export function useExportSession(): (id: string) => void {
  const client = useClient()
  return useCallback(
    (id: string) => {
      client.sessions.export(id).then(
        (document) => saveFile(`session-${id}.json`, JSON.stringify(document, null, 2)),
        (error: unknown) => announce(`The export failed. ${error instanceof Error ? error.message : ''}`),
      )
    },
    [client],
  )
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
