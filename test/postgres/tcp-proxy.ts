import { connect as connectTo, createServer, type Socket } from 'node:net'

/** Stands between a client and Postgres, and can break the connection at any message. */
export interface TcpProxy {
  /** The same URL, through this proxy. */
  readonly url: string
  /** Messages of clients so far, without those that open a connection. */
  readonly messages: number
  /**
   * Breaks the connection at message `n` from now on, once: before it reaches the server, or after it, so that only the answer is lost.
   */
  breakAt(n: number, when: 'before' | 'after'): void
  /** Breaks the connection at the next message with this text, once: the server gets it, and nobody hears the answer. */
  loseAnswerTo(text: string): void
  /** How many answers were lost like that. */
  readonly lost: number
  /** Passes nothing on any more, in neither direction, and closes nothing: packets are dropped somewhere on the way. */
  freeze(): void
  /** What was under way arrives after all. */
  thaw(): void
  /** Breaks all connections now. */
  breakAll(): void
  close(): Promise<void>
}

export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let messages = 0
  let breaking: { isAt: (message: Buffer) => boolean; when: 'before' | 'after' } | null = null
  let lost = 0
  let isFrozen = false
  let late: Socket[] = []

  function pass(client: Socket): void {
    const upstream = connectTo(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    let answersGo = true
    const end = () => {
      client.destroy()
      upstream.end()
    }
    upstream.on('data', (data) => void (answersGo && client.write(data)))
    upstream.on('close', end)
    client.on('close', end)
    const split = createSplitter()
    client.on('data', (data) => {
      for (const { message, isStart } of split(data)) {
        if (!isStart) messages += 1
        if (breaking !== null && !isStart && breaking.isAt(message)) {
          const { when } = breaking
          breaking = null
          if (when === 'before') return end()
          // The server gets the message, and everything that it needs to answer it. Nobody hears the answer.
          answersGo = false
          upstream.write(message)
          upstream.write(SYNC)
          client.destroy()
          return
        }
        upstream.write(message)
      }
    })
  }

  const server = createServer((client) => {
    if (!isFrozen) return pass(client)
    sockets.add(client)
    late.push(client.pause().on('error', () => {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' ? address?.port : '')

  return {
    url: through.href,
    get messages() {
      return messages
    },
    breakAt(n, when) {
      const at = messages + n
      breaking = { isAt: () => messages >= at, when }
    },
    loseAnswerTo(text) {
      const isAt = (message: Buffer) => {
        const isIt = message.includes(text)
        if (isIt) lost += 1
        return isIt
      }
      breaking = { isAt, when: 'after' }
    },
    get lost() {
      return lost
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      const waiting = late
      late = []
      for (const client of waiting) if (!client.destroyed) pass(client)
      for (const socket of sockets) socket.resume()
    },
    breakAll() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The message that makes Postgres do what it was sent. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** Cuts a stream into messages: a letter, a length and that many bytes. The first message has no letter. */
function createSplitter(): (data: Buffer) => { message: Buffer; isStart: boolean }[] {
  let rest: Buffer = Buffer.alloc(0)
  let isStart = true
  return (data) => {
    rest = Buffer.concat([rest, data])
    const found: { message: Buffer; isStart: boolean }[] = []
    for (;;) {
      const header = isStart ? 4 : 5
      if (rest.length < header) return found
      const length = rest.readInt32BE(header - 4) + (isStart ? 0 : 1)
      if (rest.length < length) return found
      found.push({ message: rest.subarray(0, length), isStart })
      rest = rest.subarray(length)
      isStart = false
    }
  }
}
