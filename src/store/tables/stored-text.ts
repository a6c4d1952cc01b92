// How texts are stored where neither NUL nor half a surrogate pair can be: Postgres refuses them, and SQLite loses them.

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

const ESCAPED = '\u0001'

/**
 * What is stored of a string: nearly always the string itself, otherwise its JSON behind a mark. Two strings never become the same, so
 * lookups by equality go on working. The driver of Postgres calls it for every parameter, and `fromStored` for every text that it reads.
 */
export const toStored = (text: string): string =>
  isStorable(text) && !text.startsWith(ESCAPED) ? text : ESCAPED + JSON.stringify(text)

export const fromStored = (text: string): string =>
  text.startsWith(ESCAPED) ? (JSON.parse(text.slice(1)) as string) : text
