// The lines of pages as one text: without the headers and footers that repeat on them, and without a gap where a paragraph goes on.

import type { Line } from './block.ts'

/** So many lines at the top and at the bottom of a page can be its header or footer. */
const EDGE = 3
const LEAST_REPEATS = 3
const MOST_REPEATS = 6
const SHARE_OF_PAGES = 0.3
const LONGEST = 200
const PAGE_NUMBER =
  /^\W*(?:(?:page|seite|página|pagina|side|sida|strana|стр\.?)\s*)?\d{1,4}(?:\s*(?:of|von|de|di|van|\/|\|)\s*\d{1,4})?\W*$/iu
/** A line of a table of contents. It has the words of every section and says nothing of them, so it would be found first. */
const LEADERS = /(?:\. ?){6,} *\d{0,4} *$/
const FOOTER_OF_RFC = /\[Page \d+\]\s*$/

/** Each page has its lines. What repeats stays where it is first. */
export function joinedPages(pages: readonly (readonly Line[])[]): Line[] {
  const counts = new Map<string, number>()
  for (const page of pages)
    for (const key of new Set(edgesOf(page).map((at) => keyOf(page, at)))) counts.set(key, (counts.get(key) ?? 0) + 1)
  const repeats = Math.min(MOST_REPEATS, Math.max(LEAST_REPEATS, pages.length * SHARE_OF_PAGES))
  const said = new Set<string>()
  const joined: Line[] = []
  for (const page of pages) {
    const dropped = new Set(
      edgesOf(page).filter((at) => {
        const key = keyOf(page, at)
        const isNumber = PAGE_NUMBER.test(page[at]?.text.slice(0, LONGEST).trim() ?? '')
        if ((counts.get(key) ?? 0) < (isNumber ? LEAST_REPEATS : repeats)) return false
        const isKept = !said.has(key) && !isNumber
        said.add(key)
        return !isKept
      }),
    )
    append(
      joined,
      page.filter(({ text }, at) => !dropped.has(at) && !LEADERS.test(text.slice(-LONGEST))),
    )
  }
  return joined
}

/** The same for text that was printed with page breaks, as RFCs are. */
export function withoutPageBreaks(lines: readonly Line[]): readonly Line[] {
  const pages: Line[][] = [[]]
  for (const line of lines) {
    pages.at(-1)?.push(line)
    if (line.text.length < LONGEST && FOOTER_OF_RFC.test(line.text)) pages.push([])
  }
  return pages.length > LEAST_REPEATS ? joinedPages(pages) : lines
}

/** The first and last lines that are not blank. */
function edgesOf(page: readonly Line[]): number[] {
  const top: number[] = []
  const bottom: number[] = []
  for (let at = 0; at < page.length && top.length < EDGE; at++) if (isText(page[at])) top.push(at)
  for (let at = page.length - 1; at > (top.at(-1) ?? 0) && bottom.length < EDGE; at--)
    if (isText(page[at])) bottom.push(at)
  return [...top, ...bottom]
}

const isText = (line: Line | undefined): boolean => line !== undefined && line.text.trim() !== ''

/** Pages differ in their numbers. Lines far apart from one another are not the same header. */
const keyOf = (page: readonly Line[], at: number): string =>
  `${at < page.length / 2 ? 'top' : 'bottom'} ${page[at]?.text.slice(0, LONGEST).replace(/\d+/g, '#').replace(/\s+/g, ' ').trim()}`

function append(joined: Line[], page: readonly Line[]): void {
  const last = joined.findLast(isText)
  const from = page.findIndex(isText)
  const first = page[from]
  if (first === undefined) return
  const goesOn =
    last !== undefined &&
    /[\p{L}\p{N},\-–]\s*$/u.test(last.text.slice(-20)) &&
    /^\s*\p{Ll}/u.test(first.text.slice(0, 80))
  if (goesOn) while (joined.length > 0 && !isText(joined.at(-1))) joined.pop()
  else if (last !== undefined) joined.push({ text: '', place: first.place })
  for (const line of page.slice(from)) joined.push(line)
}
