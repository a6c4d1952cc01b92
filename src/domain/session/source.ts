// What an answer cites. A tool finds passages and gives each a number in the conversation; the model writes `[3]`; the message keeps what
// `[3]` was.

import { isRecord } from '../is-record.ts'
import type { Passage, Place } from '../knowledge/passage.ts'

/** A passage that was shown to the model. */
export interface Shown extends Omit<Passage, 'text'> {
  /** Counts through the whole conversation, so `[3]` never means two things. */
  number: number
  /** The tool that found it. */
  tool: string
}

/** A passage that an answer cites. */
export interface Source extends Shown {
  /** Empty if `isChanged`: nobody is shown what a file no longer says. */
  text: string
  /** The file has changed or gone since the model read the passage. */
  isChanged: boolean
}

/** What is known of an answer of an agent that has knowledge. Kept in the message's metadata, under `quarterdeck`. */
export interface Citations {
  /** In the order of their first mention. */
  sources: readonly Source[]
  /** Numbers that the answer cites and that nothing was found under. */
  notFound: readonly number[]
}

/** In code, `[3]` is an index. */
const CODE = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`/g
/** `[3]`, `[3, 4]`, `[3][4]`; not `[3](…)`, which is a link, `[^3]`, a footnote, or `a[3]`. */
export const CITATION = /(?<![\p{L}\p{N}_)\]!])((?:\[\d{1,5}(?:\s*[,;]\s*\d{1,5})*\])+)(?![(:])/gu

/** Each mention of a number, in order. `index`: where its bracket begins. */
export function citedPlaces(text: string): { number: number; index: number }[] {
  const places: { number: number; index: number }[] = []
  const prose = text.replace(CODE, (code) => ' '.repeat(code.length))
  for (const { 0: found, index } of prose.matchAll(CITATION)) {
    let bracket = index
    for (const { 0: sign, index: at } of found.matchAll(/\[|\d+/g)) {
      if (sign === '[') bracket = index + at
      else places.push({ number: Number(sign), index: bracket })
    }
  }
  return places
}

/** The numbers that a text cites, in the order of their first mention. */
export const citedNumbers = (text: string): number[] => [...new Set(citedPlaces(text).map(({ number }) => number))]

/** The activity that shows the sources of an answer. */
export const SOURCES = 'SOURCES'

/** A source as every door shows it. */
export interface ShownSource {
  id: string
  number: number
  file: string
  page?: number
  sheet?: string
  slide?: number
  line?: number
  heading?: string
  text: string
  changed?: true
}

export function shownSource({ id, number, file, place, headings, text, isChanged }: Source): ShownSource {
  const { page, sheet, slide, line } = place
  return {
    id,
    number,
    file,
    ...(page === null ? {} : { page }),
    ...(sheet === null ? {} : { sheet }),
    ...(slide === null ? {} : { slide }),
    ...(line === null ? {} : { line }),
    ...(headings.length === 0 ? {} : { heading: headings.join(' > ') }),
    text,
    ...(isChanged ? { changed: true } : {}),
  }
}

/** `[3] leave.md, page 2, Leave > Parental leave`, one for each source, and one for what was not found. Text of files is in it. */
export function sourceLines(sources: readonly Partial<ShownSource>[], notFound: readonly unknown[]): string[] {
  const lines = sources.map(({ number, file, page, sheet, slide, heading, changed }) => {
    const part = page === undefined ? (slide === undefined ? sheet : `slide ${slide}`) : `page ${page}`
    const place = [file, part, heading].filter((one) => one !== undefined)
    return `[${number}] ${place.join(', ')}${changed ? ' (changed since)' : ''}`
  })
  return notFound.length === 0 ? lines : [...lines, `Not found: ${notFound.map((number) => `[${number}]`).join(' ')}`]
}

/** What the metadata of an answer says that it cites. */
export function citationsIn(metadata: Record<string, unknown> | undefined): Citations | null {
  const own = metadata?.quarterdeck
  const citations = isRecord(own) ? own.citations : undefined
  if (!isRecord(citations) || !Array.isArray(citations.sources) || !Array.isArray(citations.notFound)) return null
  return citations as unknown as Citations
}

/** What several messages cite together, each number once. Null: nothing. */
export function joinedCitations(of: readonly (Citations | null | undefined)[]): Citations | null {
  const sources = new Map<number, Source>()
  const notFound = new Set<number>()
  for (const citations of of) {
    for (const source of citations?.sources ?? []) if (!sources.has(source.number)) sources.set(source.number, source)
    for (const number of citations?.notFound ?? []) notFound.add(number)
  }
  if (sources.size + notFound.size === 0) return null
  return { sources: [...sources.values()], notFound: [...notFound] }
}

/** What the metadata of a tool's result says that it has shown. A client may have sent the result, so each is checked. */
export function shownIn(metadata: Record<string, unknown> | undefined): Shown[] {
  const own = metadata?.quarterdeck
  const shown = isRecord(own) ? own.shown : undefined
  return Array.isArray(shown) ? shown.filter(isShown) : []
}

/** More digits are no citation. */
export const HIGHEST_NUMBER = 99_999

function isShown(value: unknown): value is Shown {
  if (!isRecord(value)) return false
  const { number, id, tool, file, place, headings } = value
  return (
    Number.isInteger(number) &&
    Number(number) > 0 &&
    Number(number) <= HIGHEST_NUMBER &&
    [id, tool, file].every((text) => typeof text === 'string') &&
    isPlace(place) &&
    Array.isArray(headings) &&
    headings.every((heading) => typeof heading === 'string')
  )
}

function isPlace(value: unknown): value is Place {
  if (!isRecord(value)) return false
  const { page, sheet, slide, line } = value
  const numbers = [page, slide, line].every((one) => one === null || typeof one === 'number')
  return numbers && (sheet === null || typeof sheet === 'string')
}
