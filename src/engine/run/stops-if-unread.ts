import { textOf } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'

/**
 * Whether a queued run stops the one before it if nobody reads that any more. The stop button of many pages only closes the
 * connection, and the next message must not wait until the grace time is over. Only a new message stops a run: a client that
 * reconnects with what it sent before must never stop its own run.
 */
export function stopsIfUnread(queued: RunRecord, running: RunRecord): boolean {
  if (queued.status !== 'queued' || running.status !== 'running' || queued.owner !== running.owner) return false
  const said = wordsOf(queued)
  if (queued.input.stopsUnread !== true || said.length === 0) return false
  // A client that sends no ids of its own can only repeat its words.
  const hasOwnId = queued.wireId !== queued.id
  return hasOwnId || JSON.stringify(said) !== JSON.stringify(wordsOf(running))
}

const wordsOf = ({ input }: RunRecord): string[] =>
  input.messages.flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : []))
