// Just enough HTTP/1.1 to read one keep-alive connection. The load client and the fake model share a core and must together cost
// less than what they measure. node:http calls back for every chunk and would cost too much.

interface HttpHandlers {
  /** The start line and the headers, unchanged. */
  head(text: string): void
  /** Bytes of the body as Latin-1 text: one character per byte, whatever their encoding. */
  body(text: string): void
  end(): void
}

interface HttpReader {
  /** Throws when the bytes are not HTTP. */
  feed(bytes: Buffer): void
  /** Call it when the connection has ended. Returns false when a message was cut short. */
  close(): boolean
}

const CHUNKED = -1
const UNTIL_CLOSE = Number.POSITIVE_INFINITY

/** `bodyless`: requests without a length have no body. Responses without a length go on until the connection ends. */
export function createHttpReader(handlers: HttpHandlers, bodyless: boolean): HttpReader {
  let rest = ''
  let state: 'head' | 'body' | 'size' | 'chunk' | 'trailer' = 'head'
  let missing = 0

  function step(text: string, at: number): number {
    switch (state) {
      case 'head': {
        const end = text.indexOf('\r\n\r\n', at)
        if (end === -1) return -1
        const head = text.slice(at, end)
        if (!head.includes('HTTP/1.')) throw new Error(`not HTTP/1.x: ${JSON.stringify(head.slice(0, 80))}`)
        const length = bodyLength(head, bodyless)
        state = length === CHUNKED ? 'size' : 'body'
        missing = length
        handlers.head(head)
        if (length === 0) finish()
        return end + 4
      }
      case 'size': {
        const end = text.indexOf('\r\n', at)
        if (end === -1) return -1
        missing = Number.parseInt(text.slice(at, end), 16)
        if (Number.isNaN(missing)) throw new Error(`not a chunk size: ${JSON.stringify(text.slice(at, end))}`)
        state = missing === 0 ? 'trailer' : 'chunk'
        // Skips the line end after the chunk's data too.
        missing += 2
        return end + 2
      }
      case 'chunk': {
        const size = Math.min(missing, text.length - at)
        const data = Math.min(size, missing - 2)
        if (data > 0) handlers.body(text.slice(at, at + data))
        missing -= size
        // The bytes were cut inside the line end. The rest of it holds no data.
        if (missing === 0) state = 'size'
        return at + size
      }
      case 'body': {
        const size = Math.min(missing, text.length - at)
        handlers.body(text.slice(at, at + size))
        missing -= size
        if (missing === 0) finish()
        return at + size
      }
      case 'trailer': {
        const end = text.indexOf('\r\n', at)
        if (end === -1) return -1
        if (end === at) finish()
        return end + 2
      }
    }
  }

  function finish(): void {
    state = 'head'
    handlers.end()
  }

  return {
    feed(bytes) {
      const text = rest + bytes.toString('latin1')
      let at = 0
      while (at < text.length) {
        const next = step(text, at)
        if (next === -1) break
        at = next
      }
      rest = text.slice(at)
    },
    close() {
      if (state === 'head') return rest === ''
      if (missing !== UNTIL_CLOSE) return false
      finish()
      return true
    },
  }
}

function bodyLength(head: string, bodyless: boolean): number {
  if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) return CHUNKED
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  return bodyless ? 0 : UNTIL_CLOSE
}
