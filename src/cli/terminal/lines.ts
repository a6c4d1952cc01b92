/** The lines of a text that arrives in pieces. Unlike `node:readline` a failing source fails the loop. */
export async function* linesOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Pieces of the line that is not complete yet; joined once, so that a very long line costs no copies.
  let pieces: string[] = []
  for await (const chunk of source) {
    const lines = (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })).split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      yield withoutReturn(pieces.join('') + line)
      pieces = []
    }
    pieces.push(rest)
  }
  const last = pieces.join('')
  if (last !== '') yield withoutReturn(last)
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
