// A request that names no session holds the whole conversation. If a session of the caller has just that conversation, the request
// goes on there.

import { createHash } from 'node:crypto'
import { afterTurn, newConversation } from '../../domain/session/conversation.ts'
import type { SentFile } from '../shared/request/sent-file.ts'
import { firstNew, isFilled, type Turn } from './turns.ts'

interface Digests {
  /** Of what was said before the new messages; null if they are the first. */
  before: string | null
  /** With the new messages. */
  now: string
}

export async function conversationDigests(agent: string, user: unknown, turns: readonly Turn[]): Promise<Digests> {
  const said = turns.filter((turn) => turn.role !== 'instructions')
  const first = firstNew(said)
  let now = newConversation(agent, typeof user === 'string' ? user : null)
  let before: string | null = null
  /** An answer in several messages is one turn. */
  let answer: { text: string; marks: string[] } | null = null
  for (const [index, turn] of said.entries()) {
    if (!isFilled(turn)) continue
    if (turn.role === 'assistant') {
      answer ??= { text: '', marks: [] }
      answer.text += turn.text
      for (const { id } of turn.calls ?? []) answer.marks.push(id)
      if (index === first - 1) before = afterTurn(now, { role: 'assistant', ...answer })
      continue
    }
    if (answer !== null) now = afterTurn(now, { role: 'assistant', ...answer })
    answer = null
    const { role, text } = turn
    now = afterTurn(now, { role, text, marks: role === 'tool' ? [turn.callId] : await filesIn(turn.files) })
  }
  return { before, now }
}

async function filesIn(files: readonly SentFile[]): Promise<string[]> {
  const digests: string[] = []
  for (const file of files)
    digests.push('base64' in file ? await contentOf(file) : 'url' in file ? file.url : file.fileId)
  return digests
}

/** A client sends a file again in the same way, so its base64 need not be decoded. */
async function contentOf({ base64 }: Extract<SentFile, { base64: unknown }>): Promise<string> {
  const hash = createHash('sha256')
  if (typeof base64 === 'string') hash.update(base64)
  else for await (const piece of base64.pieces(PIECE)) hash.update(piece)
  return hash.digest('hex')
}

const PIECE = 64 * 1024
