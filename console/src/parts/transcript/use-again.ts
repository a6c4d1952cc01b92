import { useRef } from 'react'
import { useClient } from '../../data/server.tsx'
import type { TranscriptItem } from '../../data/transcript.ts'
import { messageIdOf } from '../../data/use-branch.ts'
import { errorText } from '../../error-text.ts'
import { given } from '../../given.ts'
import { announce } from '../Announcer.tsx'

/** Answers the last message of a person anew. The answers before stay as earlier versions. Null: there is no message. */
export function useAgain(
  sessionId: string,
  items: readonly TranscriptItem[],
  model: string | null = null,
): (() => void) | null {
  const client = useClient()
  /** What stood there when somebody asked. A second press would be another run, so nobody asks again before that has changed. */
  const asked = useRef<readonly TranscriptItem[]>(null)
  const last = items.findLast(({ type }) => type === 'user')
  if (last === undefined) return null
  return () => {
    if (asked.current === items) return
    asked.current = items
    client.again(sessionId, messageIdOf(last.key), { onBusy: 'queue', ...given({ model }) }).then(
      () => announce('Asked again. The answer before stays as an earlier version.'),
      (error: unknown) => {
        asked.current = null
        announce(errorText(error))
      },
    )
  }
}
