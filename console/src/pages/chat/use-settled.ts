import { useEffect } from 'react'
import type { Transcript } from '../../data/transcript.ts'
import { useOutbox, useOutgoing } from '../../data/use-outbox.ts'

/** A message leaves the outbox when the conversation shows it, or when its run ended without having begun. */
export function useSettled(
  id: string,
  { items }: Transcript,
  runs: readonly { run_id: string; status: string }[],
): void {
  const outbox = useOutbox()
  const outgoing = useOutgoing(id)
  useEffect(() => {
    if (outgoing.length === 0) return
    const shown = new Set(items.filter(({ type }) => type === 'user').map(({ key }) => key))
    const over = new Set(runs.filter(({ status }) => !OPEN_RUNS.has(status)).map(({ run_id }) => run_id))
    outbox.settle(id, ({ messageId, runId }) => shown.has(`user:${messageId}`) || over.has(runId ?? ''))
  }, [id, outbox, outgoing, items, runs])
}

const OPEN_RUNS: ReadonlySet<string> = new Set(['queued', 'running', 'waiting'])
