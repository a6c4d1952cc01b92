import type { Words } from '../../data/outbox.ts'
import type { Transcript } from '../../data/transcript.ts'
import { announce } from '../../parts/Announcer.tsx'

/** Sends the last message once more. It is a new turn: what was said stays said. */
export function useAgain({ items }: Transcript, send: (words: Omit<Words, 'agent'>) => void): (() => void) | undefined {
  const last = items.findLast((item) => item.type === 'user')
  if (last === undefined || last.type !== 'user') return undefined
  return () => {
    const files = last.files.flatMap(({ fileId, name, mimeType }) =>
      fileId === null ? [] : [{ file_id: fileId, name, mime_type: mimeType ?? '', bytes: 0 }],
    )
    send({ text: last.text, files })
    announce('Asked again, as a new turn')
  }
}
