// How well a search finds what is known to be there. Pure: the search comes as an argument.

import { type Passage, placeText } from '../../domain/knowledge/passage.ts'
import type { KnowledgeQuestion } from '../../domain/knowledge/question.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { createIgnoreRules } from '../../domain/text/ignore-rules.ts'
import type { Found } from '../../knowledge/knowledge.ts'

export interface Measured {
  questions: number
  /** Share of the questions with a right passage among the first 1, 5 and 10. Passages that come along with a hit take places too. */
  recall: { at1: number; at5: number; at10: number }
  /** Mean of 1 / place of the first right passage. One that is not among the first 10 counts as 0. */
  mrr: number
  /** Questions without a right passage among the first 5. */
  misses: readonly Miss[]
  /** What could not be searched, each once. */
  lacks: readonly string[]
  /** Of the embedding of the questions. */
  usage: readonly TokenUsage[]
}

export interface Miss {
  question: KnowledgeQuestion
  /** From 6 to 10; null: it was not among them. */
  place: number | null
  /** The best first. */
  found: readonly Passage[]
}

const MOST = 10
/** For embeddings, which answer slowly. */
const AT_ONCE = 4
const SHOWN = 3

export type Search = (query: string, most: number, signal: AbortSignal) => Promise<Found>

/** Throws what `search` throws. `onDone` hears how many questions are done. */
export async function measureSearch(
  questions: readonly KnowledgeQuestion[],
  search: Search,
  signal: AbortSignal,
  onDone: (done: number) => void = () => {},
): Promise<Measured> {
  const places: (number | null)[] = []
  const misses: (Miss | undefined)[] = []
  const lacks = new Set<string>()
  const usage: TokenUsage[] = []
  let done = 0
  // All workers share one iterator, so that each takes the next question.
  const left = questions.entries()
  const work = async () => {
    for (const [index, question] of left) {
      signal.throwIfAborted()
      const found = await search(question.question, MOST, signal)
      const passages = found.hits.map(({ passage }) => passage)
      const at = passages.slice(0, MOST).findIndex((passage) => isAnswer(question, passage))
      const place = at === -1 ? null : at + 1
      places[index] = place
      if (place === null || place > 5) misses[index] = { question, place, found: passages.slice(0, SHOWN) }
      for (const lack of found.lacks) lacks.add(lack)
      usage.push(...found.usage)
      done += 1
      onDone(done)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, questions.length) }, work))
  const share = (sum: number): number => (questions.length === 0 ? 0 : sum / questions.length)
  const within = (most: number): number => share(places.filter((place) => place !== null && place <= most).length)
  return {
    questions: questions.length,
    recall: { at1: within(1), at5: within(5), at10: within(10) },
    mrr: share(places.reduce<number>((sum, place) => sum + (place === null ? 0 : 1 / place), 0)),
    misses: misses.filter((miss) => miss !== undefined),
    lacks: [...lacks],
    usage,
  }
}

export function isAnswer({ files, heading, page, contains }: KnowledgeQuestion, passage: Passage): boolean {
  const text = plain(passage.text)
  return (
    (page === null || passage.place.page === page) &&
    files.some((file) => file === passage.file || isIn(file, passage.file)) &&
    (heading === null || headingsOf(passage).some((one) => plain(one).includes(plain(heading)))) &&
    contains.every((part) => text.includes(plain(part)))
  )
}

/** Of short sections, several are one passage, with their headings in its text. */
const headingsOf = ({ headings, text }: Passage): string[] => [
  headings.join(' > '),
  ...text.split('\n').flatMap((line) => /^#{1,6} (.*)/.exec(line)?.[1] ?? []),
]

/** Where a text breaks its lines says nothing. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase()

function isIn(pattern: string, path: string): boolean {
  const rules = createIgnoreRules([{ folder: '', text: `/${pattern.replace(/^\.?\//, '')}` }])
  const end = path.lastIndexOf('/')
  return rules.scopeOf(path.slice(0, Math.max(end, 0)))(path.slice(end + 1), false)
}

/** For people: `leave.md, page 3, Parental leave, with "20 days"`. */
export const expectedText = ({ files, heading, page, contains }: KnowledgeQuestion): string =>
  [
    files.join(' or '),
    ...(page === null ? [] : [`page ${page}`]),
    ...(heading === null ? [] : [heading]),
    ...(contains.length === 0 ? [] : [`with ${contains.map((part) => JSON.stringify(part)).join(' and ')}`]),
  ].join(', ')

/** For people: `leave.md, page 3, Parental leave`. */
export const foundText = (passage: Passage): string =>
  [passage.file, placeText(passage)].filter((part) => part !== '').join(', ')
