// The numbers under which a conversation knows passages. They count through the whole session, and what was shown under each is kept
// with the result that showed it, so a later run, also after a crash, goes on where the last one was.

import type { StoredMessage } from '../../domain/session/message.ts'
import { citationsIn, citedNumbers, type Shown, shownIn } from '../../domain/session/source.ts'
import { SUMMARIES } from '../../domain/session/summary.ts'
import type { MessageReads } from '../../store/ports/messages.ts'
import type { PassageNumbers } from '../../tools/tool.ts'
import type { RunScope } from '../run/run-scope.ts'

/** The numbers of one session, for one run and its sub-agents. */
export interface SessionNumbers {
  shown(number: number): Shown | null
  /** For one call. `given`: what it has shown. */
  forCall(): { numbers: PassageNumbers; given(): Shown[] }
  /** An answer has cited this number, and nothing was found under it. So nothing ever will be. */
  leaveOut(number: number): void
}

interface NumberedRun extends Pick<RunScope, 'passages'> {
  store: { messages: Pick<MessageReads, 'page' | 'ofLane'> }
  run: Pick<RunScope['run'], 'sessionId'>
}

/** Reads them at the first time in a run. */
export function openNumbers({ store, run, passages }: NumberedRun): Promise<SessionNumbers> {
  passages.numbers ??= readNumbers(store.messages, run.sessionId).catch((error: unknown) => {
    passages.numbers = null
    throw error
  })
  return passages.numbers
}

const PAGE = 200
const PAGE_CHARS = 4 * 1024 * 1024
/** What is further back, a model sees only in a summary. */
const MOST_READ = 1_000

async function readNumbers(
  messages: Pick<MessageReads, 'page' | 'ofLane'>,
  sessionId: string,
): Promise<SessionNumbers> {
  const known = createNumbers()
  let before: string | undefined
  for (let read = 0; read < MOST_READ; ) {
    const page = await messages.page(sessionId, PAGE, { before, maxChars: PAGE_CHARS, asides: true })
    for (const message of page.toReversed()) known.see(message)
    const own = page.filter(({ lane }) => lane === undefined)
    if (own.length === 0) return known.numbers
    before = own[0]?.id
    read += own.length
  }
  const [summary] = await messages.ofLane(sessionId, SUMMARIES, 1)
  for (const number of citedNumbers(JSON.stringify(summary?.activity?.content ?? ''))) {
    if (known.numbers.shown(number) === null) known.numbers.leaveOut(number)
  }
  return known.numbers
}

function createNumbers() {
  const byNumber = new Map<number, Shown>()
  const byPassage = new Map<string, number>()
  const leftOut = new Set<number>()
  let highest = 0

  const keyOf = ({ tool, id }: Pick<Shown, 'tool' | 'id'>): string => `${tool} ${id}`

  function next(): number {
    do highest += 1
    while (leftOut.has(highest))
    return highest
  }

  function add(shown: Shown): void {
    byNumber.set(shown.number, shown)
    byPassage.set(keyOf(shown), shown.number)
    highest = Math.max(highest, shown.number)
  }

  /** The newest message first: what it says counts. */
  function see({ role, metadata }: StoredMessage): void {
    const citations = role === 'assistant' ? citationsIn(metadata) : null
    const sources = (citations?.sources ?? []).map(({ text: _text, isChanged: _isChanged, ...shown }) => shown)
    for (const shown of role === 'tool' ? shownIn(metadata) : sources) if (!byNumber.has(shown.number)) add(shown)
    for (const number of citations?.notFound ?? []) leftOut.add(number)
  }

  const shown = (number: number): Shown | null => byNumber.get(number) ?? null

  const numbers: SessionNumbers = {
    shown,
    leaveOut: (number) => void leftOut.add(number),
    forCall() {
      const given = new Map<number, Shown>()
      return {
        given: () => [...given.values()],
        numbers: {
          shown,
          give: (tool, passages) =>
            passages.map(({ id, file, place, headings }) => {
              const number = byPassage.get(keyOf({ tool, id })) ?? next()
              const one = { number, tool, id, file, place, headings }
              add(one)
              given.set(number, one)
              return number
            }),
        },
      }
    },
  }
  return { numbers, see }
}
