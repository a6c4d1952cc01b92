import { useQuery } from '@tanstack/react-query'
import type { Client } from 'quarterdeck/client'
import { type LogEvent, toLogEvent } from '../../../data/live-types.ts'
import { useClient } from '../../../data/server.tsx'
import { createTranscriptFold } from '../../../data/transcript.ts'
import type { Span } from './spans.ts'

const PAGE = 1_000
/** Of the pieces of one answer. Older ones are joined, so this is more than any answer has. */
const MOST_PAGES = 20

/** What was said and called in a line of the timeline, read from the log. */
export function useSpanItems(sessionId: string, span: Span) {
  const client = useClient()
  const { seq, lastSeq, end, asked, subagent, kind, callId } = span
  return useQuery({
    queryKey: ['span', sessionId, seq, lastSeq, end],
    enabled: kind === 'model' || kind === 'tool',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const read = (from: number, to: number) => readEvents(client, sessionId, from, to, signal)
      const fold = createTranscriptFold()
      // The call waited for a person: its arguments are in the run that asked.
      if (asked !== null) fold.add(await read(asked.seq, asked.lastSeq))
      fold.add(await read(seq, end === null ? Number.POSITIVE_INFINITY : lastSeq))
      const { items } = fold.current()
      if (kind === 'tool') return items.filter((item) => item.type === 'tool' && item.callId === callId)
      return items.filter((item) => item.subagent === subagent)
    },
  })
}

async function readEvents(client: Client, id: string, from: number, to: number, signal: AbortSignal) {
  const events: LogEvent[] = []
  let after = from - 1
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await client.sessions.log(id, { after, limit: PAGE, signal })
    for (const one of page.events) if (one.seq <= to) events.push(toLogEvent(one))
    after = page.events.at(-1)?.seq ?? to
    if (page.next === null || after >= to) break
  }
  return events
}

/** What a model call has sent. Asked for only when somebody looks. */
export function useSent(sessionId: string, { seq }: Span, enabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['span', sessionId, seq, 'sent'],
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.sessions.step(sessionId, seq, { signal }),
  })
}
