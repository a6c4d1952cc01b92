/** Splits text that arrives in pieces into lines. Unlike with `node:readline`, a source that fails makes the loop throw. */
export async function* linesOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // Pieces of the unfinished line. Joined only once, so that a very long line is not copied again and again.
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
