// Compares the chat that a page sends with the stored session: what is new, edited, answered again, or under way already.

import { ServerError } from '../../domain/errors.ts'
import { textOf } from '../../domain/session/message.ts'
import { type RunRecord, START } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { chainOf, type RunChain } from '../shared/answer/run-chain.ts'
import { refuseMany } from '../shared/request/message-limits.ts'
import type { SentFile } from '../shared/request/sent-file.ts'
import { checkId, decodeWords, nothingToAnswer, type SentWords, type UiChat } from './decode.ts'

export interface NewWords {
  id: string
  text: string
  files: SentFile[]
}

export type Turn =
  /** `regenerateAfter` as in `RunInput`; null: the conversation just goes on. */
  | { kind: 'run'; words: NewWords[]; regenerateAfter: string | null }
  /** A run answers these words already. */
  | { kind: 'under way'; chain: RunChain }

type Reads = Pick<Engine, 'messages' | 'runs'>

interface TurnOptions extends Pick<UiChat, 'lastAnswered'> {
  /** Words that a run answers already are `under way`. If not, they want another answer. */
  attaches: boolean
}

/** For a chat that ends with words of the user. Throws `invalid_request`, `malformed_id`, `conflict`. */
export async function readTurn(
  engine: Reads,
  session: SessionRecord | null,
  sent: readonly SentWords[],
  { attaches, lastAnswered }: TurnOptions,
): Promise<Turn> {
  const last = sent.at(-1)
  if (last === undefined) throw nothingToAnswer()
  if (session === null) return { kind: 'run', words: newWords(sent), regenerateAfter: null }
  const marks = await engine.messages.marks(
    session.id,
    sent.map(({ id }) => id),
  )
  const known = new Map(marks.map((mark) => [mark.id, mark]))
  if (known.has(last.id)) return repeated(engine, session, last, attaches)
  if (attaches) {
    // A queued run has not stored its messages yet.
    const open = await engine.runs.open(session.id)
    const same = open.find((run) => run.input.messages.some(({ id }) => id === last.id))
    if (same !== undefined) return { kind: 'under way', chain: [same] }
  }
  const words = newWords(sent.filter(({ id }) => !known.has(id)))
  const before = sent.findLastIndex(({ id }) => known.get(id)?.supersededBy === undefined && known.has(id))
  const end = sent[before]?.id
  // A history that ends earlier than ours: the page has gone back, and goes on from there.
  const branches = end !== undefined && (await engine.messages.userSpokeAfter(session.id, end))
  if (!branches) return { kind: 'run', words, regenerateAfter: null }
  const keepsAnswer = lastAnswered >= before
  return { kind: 'run', words, regenerateAfter: keepsAnswer ? await endOfAnswer(engine, session.id, end) : end }
}

function newWords(sent: readonly SentWords[]): NewWords[] {
  refuseMany(sent.length)
  return sent.map((one) => {
    checkId(one.id, `/messages/${one.index}/id`)
    return { id: one.id, ...decodeWords(one) }
  })
}

/** An edited message keeps its id at the client. Here each version is a message of its own. */
const MOST_VERSIONS = 100
const versionOf = (id: string, version: number): string => (version === 1 ? id : `${id}~${version}`)

/** The last message of the user is known: it was edited, wants another answer, or is sent again after a lost connection. */
async function repeated(engine: Reads, session: SessionRecord, sent: SentWords, attaches: boolean): Promise<Turn> {
  const { messages, runs } = engine
  const ids = Array.from({ length: MOST_VERSIONS }, (_, index) => versionOf(sent.id, index + 1))
  const found = new Set((await messages.marks(session.id, ids)).map(({ id }) => id))
  const version = ids.findLastIndex((id) => found.has(id)) + 1
  const newest = versionOf(sent.id, version)
  const [stored] = await messages.known(session.id, [newest])
  if (stored?.role !== 'user' || stored.supersededBy !== undefined || stored.lane !== undefined) {
    throw new ServerError('conflict', 'This message is no longer part of the conversation. Load the chat again.')
  }
  const { text, files } = decodeWords(sent)
  const storedFiles =
    typeof stored.content === 'string' ? 0 : stored.content.filter(({ type }) => type !== 'text').length
  if (textOf(stored.content) !== text || storedFiles !== files.length) {
    if (version === MOST_VERSIONS) {
      throw new ServerError('conflict', `This message was edited ${MOST_VERSIONS} times. Send a new one.`)
    }
    const [before] = await messages.page(session.id, 1, { before: newest })
    const words = [{ id: versionOf(sent.id, version + 1), text, files }]
    return { kind: 'run', words, regenerateAfter: before?.id ?? START }
  }
  if (attaches) {
    const [active] = await runs.open(session.id)
    const chain = active === undefined ? null : await chainOf(engine, active)
    if (chain !== null && answers(chain[0], newest)) return { kind: 'under way', chain }
  }
  return { kind: 'run', words: [], regenerateAfter: newest }
}

const answers = ({ input }: RunRecord, messageId: string): boolean =>
  input.regenerateAfter === messageId || input.messages.some(({ id }) => id === messageId)

const PAGE = 200
const PAGE_CHARS = 64 * 1024

/** The last message before the user spoke again after this message of theirs. */
async function endOfAnswer({ messages }: Reads, sessionId: string, userMessageId: string): Promise<string> {
  const later: { id: string; isUser: boolean }[] = []
  for (;;) {
    const page = await messages.page(sessionId, PAGE, { before: later[0]?.id, maxChars: PAGE_CHARS })
    const at = page.findIndex(({ id }) => id === userMessageId)
    later.unshift(...page.slice(at + 1).map(({ id, role }) => ({ id, isUser: role === 'user' })))
    if (at < 0 && page.length > 0) continue
    const next = later.findIndex(({ isUser }) => isUser)
    return later[next - 1]?.id ?? userMessageId
  }
}
