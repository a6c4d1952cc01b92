import { useEffect, useState } from 'react'
import { DiffView } from '../diff/DiffView.tsx'
import type { Seen } from '../seen/seen.ts'
import type { Version } from './versions-diff.ts'

/** The difference between the versions of some texts. */
export function Difference({ versions, onSeen }: { versions: readonly Version[]; onSeen?: (seen: Seen) => void }) {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    let isGone = false
    void import('./versions-diff.ts').then(({ versionsDiff }) => isGone || setText(versionsDiff(versions)))
    return () => {
      isGone = true
    }
  }, [versions])
  return text === null ? null : <DiffView text={text} thing="argument" onSeen={onSeen} />
}
