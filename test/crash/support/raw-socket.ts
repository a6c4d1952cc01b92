// A connection that sends exactly what a test wants, at the pace that it wants, and keeps what comes back.

import { connect, type Socket } from 'node:net'

export interface RawSocket {
  readonly socket: Socket
  /** What has been received so far. */
  text(): string
  /** Resolves with everything received when the other side has closed. Rejects after `withinMs`. */
  closed(withinMs?: number): Promise<string>
}

export function openRaw(port: number, first = ''): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    const gone = new Promise<void>((done) => socket.once('close', () => done()))
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // A reset is fine too: the test checks what came before it.
      socket.on('error', () => {})
      if (first !== '') socket.write(first)
      resolve({
        socket,
        text: () => text,
        async closed(withinMs = 10_000) {
          const timer = new Promise<never>((_, fail) => {
            const late = setTimeout(() => fail(new Error(`still open after ${withinMs} ms`)), withinMs)
            void gone.then(() => clearTimeout(late))
          })
          await Promise.race([gone, timer])
          return text
        },
      })
    })
  })
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
