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
  const before = sent.findLastIndex(({ id }) => known.has(id))
  const end = before < 0 ? null : await newestVersion(engine, session.id, sent[before]?.id ?? '')
  // A page in a branch that was left goes on with the conversation as it is.
  if (end === null || end.mark.supersededBy !== undefined) return { kind: 'run', words, regenerateAfter: null }
  // A history that ends earlier than ours: the page has gone back, and goes on from there.
  const branches = await engine.messages.userSpokeAfter(session.id, end.mark.id)
  if (!branches) return { kind: 'run', words, regenerateAfter: null }
  const keepsAnswer = lastAnswered >= before
  const regenerateAfter = keepsAnswer ? await endOfAnswer(engine, session.id, end.mark.id) : end.mark.id
  return { kind: 'run', words, regenerateAfter }
}

function newWords(sent: readonly SentWords[]): NewWords[] {
  // The same id twice is the same message: the store has one place for it.
  const unique = [...new Map(sent.map((one) => [one.id, one])).values()]
  refuseMany(unique.length)
  return unique.map((one) => {
    checkId(one.id, `/messages/${one.index}/id`)
    return { id: one.id, ...decodeWords(one) }
  })
}

/** An edited message keeps its id at the client. Here each version is a message of its own. */
const MOST_VERSIONS = 100
const versionOf = (id: string, version: number): string => (version === 1 ? id : `${id}~${version}`)

async function newestVersion({ messages }: Reads, sessionId: string, id: string) {
  const ids = Array.from({ length: MOST_VERSIONS }, (_, index) => versionOf(id, index + 1))
  const marks = new Map((await messages.marks(sessionId, ids)).map((mark) => [mark.id, mark]))
  const newest = ids.findLastIndex((one) => marks.has(one))
  const mark = marks.get(ids[newest] ?? '')
  return mark === undefined ? null : { version: newest + 1, mark }
}

/** The last message of the user is known: it was edited, wants another answer, or is sent again after a lost connection. */
async function repeated(engine: Reads, session: SessionRecord, sent: SentWords, attaches: boolean): Promise<Turn> {
  const { messages, runs } = engine
  const found = await newestVersion(engine, session.id, sent.id)
  const [stored] = found === null ? [] : await messages.known(session.id, [found.mark.id])
  const isCurrent = stored?.role === 'user' && stored.supersededBy === undefined && stored.lane === undefined
  if (found === null || !isCurrent) {
    throw new ServerError('conflict', 'This message is no longer part of the conversation. Load the chat again.')
  }
  const { version, mark } = found
  const { text, files } = decodeWords(sent)
  const storedFiles =
    typeof stored.content === 'string' ? 0 : stored.content.filter(({ type }) => type !== 'text').length
  if (textOf(stored.content) !== text || storedFiles !== files.length) {
    if (version === MOST_VERSIONS) {
      throw new ServerError('conflict', `This message was edited ${MOST_VERSIONS} times. Send a new one.`)
    }
    const [before] = await messages.page(session.id, 1, { before: mark.id })
    const words = [{ id: versionOf(sent.id, version + 1), text, files }]
    return { kind: 'run', words, regenerateAfter: before?.id ?? START }
  }
  if (attaches) {
    const [active] = await runs.open(session.id)
    const chain = active === undefined ? null : await chainOf(engine, active)
    if (chain !== null && answers(chain[0], mark.id)) return { kind: 'under way', chain }
  }
  return { kind: 'run', words: [], regenerateAfter: mark.id }
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
