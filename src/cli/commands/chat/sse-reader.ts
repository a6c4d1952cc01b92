export interface SseMessage {
  /** The last id seen up to this message, or null. */
  id: string | null
  data: string
}

/** The messages of a stream of server-sent events. Ids matter here: they are where a broken stream is taken up again. */
export async function* readSse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SseMessage> {
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | null = null
  let data: string[] = []
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true })
    // To split a long line anew with each piece of it would take the square of its length.
    if (!text.includes('\n')) {
      rest += text
      continue
    }
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line === '') {
        if (data.length > 0) yield { id, data: data.join('\n') }
        data = []
        continue
      }
      const colon = line.indexOf(':')
      const field = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (field === 'data') data.push(value)
      else if (field === 'id') id = value
    }
  }
}
