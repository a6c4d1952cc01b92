// A passage: a part of a document that is found, read and cited as a whole.

/** Where a passage begins in its file. Null: the file has no such parts. */
export interface Place {
  page: number | null
  sheet: string | null
  slide: number | null
  /** From 1. */
  line: number | null
}

export interface Passage {
  /** Made of its text and its place, so an index that is made again has the same ids, and a changed text has another one. */
  id: string
  /** Path of the file, relative to the source, with `/`. */
  file: string
  place: Place
  /** From the title down. */
  headings: readonly string[]
  /** Markdown, as the file says it. */
  text: string
}

/** `page 3, Leave > Parental leave`; empty if neither is known. */
export function placeText({ place, headings }: Pick<Passage, 'place' | 'headings'>): string {
  const { page, sheet, slide, line } = place
  const where =
    page !== null
      ? `page ${page}`
      : sheet !== null
        ? `sheet ${sheet}`
        : slide !== null
          ? `slide ${slide}`
          : line === null || headings.length > 0
            ? ''
            : `line ${line}`
  // A sheet is a heading too.
  const path = headings.filter((heading, i) => i > 0 || heading !== sheet)
  return [where, path.join(' > ')].filter((part) => part !== '').join(', ')
}
