const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    hellip: '…',
    mdash: '—',
    ndash: '–',
    rarr: '→',
    larr: '←',
    times: '×',
    middot: '·',
    copy: '©',
    bull: '•',
    deg: '°',
    euro: '€',
  }),
)

/** `&lt;` and the like, as models write them. Other names stay as they are. The lexer has done the numbers. */
export const withoutReferences = (text: string): string =>
  text.includes('&') ? text.replace(/&([a-z]{2,6});/g, (found, name: string) => named.get(name) ?? found) : text
