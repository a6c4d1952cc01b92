import { useState } from 'react'
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
  /** Where the conversation ended when somebody asked again: a second press must not ask for another answer. */
  const [askedAt, setAskedAt] = useState<string | null>(null)
  const end = items.at(-1)?.key
  const last = items.findLast(({ type }) => type === 'user')
  if (last === undefined || end === undefined || askedAt === end) return null
  return () => {
    setAskedAt(end)
    client.again(sessionId, messageIdOf(last.key), { onBusy: 'queue', ...given({ model }) }).then(
      () => announce('Asked again. The answer before stays as an earlier version.'),
      (error: unknown) => {
        setAskedAt(null)
        announce(errorText(error))
      },
    )
  }
}
