// A server, or a proxy before it, that decodes a path and then tidies it up turns `..%2Fadmin` into another place. Encoding alone
// is therefore not enough (CVE-2026-32871 is this hole in another product).

/** What is wrong with one encoded segment of a path into which arguments were put; null when it stays where it is. */
export function segmentProblem(segment: string): string | null {
  if (segment === '') return 'would leave a part of the address empty'
  let text = segment
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (text.split(/[/\\]/).some(isDots)) return 'would lead to another address'
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (decoded === text) return null
    if ([...decoded].some(isControl)) return 'holds a control character'
    text = decoded
  }
  return 'is encoded several times over'
}

const MAX_DEPTH = 4

/** Java's servers cut off what follows a semicolon before they look. */
const isDots = (piece: string): boolean => /^\.{1,2}(;|$)/.test(piece)

const isControl = (character: string): boolean => character < ' ' || character === '\x7f'
