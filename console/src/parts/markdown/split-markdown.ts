// Cuts a long answer into pieces that are Markdown by themselves, so that a page needs only those in sight. An answer grows: what follows
// never changes a piece that is finished.

/** A shorter text is one piece. */
export const LONG_MARKDOWN = 20_000
/** A piece ends at the first gap between two blocks behind this place, */
const ENOUGH = 4_000
/** or somewhere before this one: at another gap, an end of a line, or a space. */
const MOST = 8_000

interface Cut {
  /** Where the next piece begins. */
  at: number
  /** The line that opened the block of code which goes on there; else empty. */
  fence: string
}

const FENCE = /^\s*(`{3,}|~{3,})/
/** A line that may belong to the list above the gap. */
const GOES_ON = /^(?:\s|[-*+]\s|\d{1,9}[.)]\s)/

/** For one text that may grow: make one for each answer. */
export function createMarkdownSplitter(): (text: string) => readonly string[] {
  let last = ''
  let finished: string[] = []
  let next: Cut = { at: 0, fence: '' }
  return (text) => {
    if (text.length <= LONG_MARKDOWN) return [text]
    if (!text.startsWith(last)) [finished, next] = [[], { at: 0, fence: '' }]
    last = text
    const open = ({ fence }: Cut) => (fence === '' ? '' : `${fence}\n`)
    for (let cut = cutAfter(text, next); cut !== null; cut = cutAfter(text, next)) {
      finished.push(open(next) + text.slice(next.at, cut.at))
      next = cut
    }
    return [...finished, open(next) + text.slice(next.at)]
  }
}

/** Null: the piece that begins there has no end yet. */
function cutAfter(text: string, { at: from, fence: opened }: Cut): Cut | null {
  let fence = opened
  let gap: number | null = null
  let wouldDo: Cut | null = null
  let isAfterBlank = false
  for (let at = from; at < from + MOST; ) {
    const end = text.indexOf('\n', at)
    // Of a line that is not whole yet, nobody knows what it will be.
    if (end === -1 && text.length < from + MOST) return null
    const line = text.slice(at, end === -1 || end > at + MOST ? at + MOST : end)
    if (fence === '' && isAfterBlank && line.trim() !== '' && at > from) {
      const isGood = !GOES_ON.test(line)
      if (isGood && at >= from + ENOUGH) return { at, fence: '' }
      if (isGood) gap = at
    }
    if (at > from) wouldDo = { at, fence }
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined && fence === '') fence = line.trim()
    else if (mark !== undefined && fence.startsWith(mark) && line.trim() === mark) fence = ''
    isAfterBlank = line.trim() === ''
    if (end === -1) break
    at = end + 1
  }
  if (text.length < from + MOST) return null
  if (gap !== null) return { at: gap, fence: '' }
  if (wouldDo !== null) return wouldDo
  const space = text.lastIndexOf(' ', from + MOST - 1) + 1
  const end = space > from + ENOUGH ? space : from + MOST
  // Never between the two halves of a character.
  const isHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return { at: isHalf ? end - 1 : end, fence: opened }
}
