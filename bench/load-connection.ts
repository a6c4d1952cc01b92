import { connect, type Socket } from 'node:net'
import type { LoadDoor } from './door.ts'
import { createHttpReader } from './http-reader.ts'
import { createSseFrames } from './sse-frames.ts'
import type { StreamCheck } from './stream-check.ts'

/** One client that makes one run after the other over one kept connection. */
export interface LoadConnection {
  /** Sends the input and gives the whole answer to the check. Resolves with what was wrong, or null. Never rejects. */
  run(input: string, check: StreamCheck): Promise<string | null>
  /** Ends a run that has received nothing for `ms`. */
  expire(ms: number): void
  close(): void
}

const STARTED = { type: 'RUN_STARTED' }

interface Running {
  check: StreamCheck
  heardAt: number
  settle(problem: string | null): void
}

/** All connections may share `readBuffer`, because a read is consumed before the next one. */
export function createLoadConnection(url: string, door: LoadDoor, readBuffer: Uint8Array): LoadConnection {
  const { hostname, port, pathname, host } = new URL(door.path, url)
  const accept = door.streams ? 'text/event-stream' : 'application/json'
  let open: Socket | null = null
  let running: Running | null = null

  function give(problem: string): void {
    open?.destroy()
    open = null
    settle(problem)
  }

  function settle(problem: string | null): void {
    const run = running
    running = null
    run?.settle(problem)
  }

  function take(data: string): void {
    for (const event of door.read(data)) running?.check.event(event)
  }

  function openSocket(): Socket {
    let status = ''
    let last = false
    let text = ''
    let frames = createSseFrames(() => {})
    const reader = createHttpReader(
      {
        head(head) {
          status = head.slice(9, 12)
          last = /\r\nconnection:\s*close/i.test(head)
          text = ''
          frames = createSseFrames(take)
        },
        body(piece) {
          if (status === '200' && door.streams) frames(piece)
          else text += piece
        },
        end() {
          if (last) {
            socket.destroy()
            open = null
          }
          if (status !== '200') return settle(`HTTP ${status}: ${text.slice(0, 200)}`)
          if (!door.streams) take(text)
          settle(running?.check.end() ?? null)
        },
      },
      false,
    )
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      // Reads directly into our buffer: a stream's buffers and queues would cost more than the checks.
      onread: {
        buffer: readBuffer,
        callback(size, buffer) {
          if (running !== null) running.heardAt = performance.now()
          try {
            reader.feed(Buffer.from(buffer.buffer, buffer.byteOffset, size))
          } catch (error) {
            give(`not an answer of this door: ${error}`)
          }
          return true
        },
      },
    })
    // A socket that was given up may report an error when another one is already open.
    socket.on('error', (error) => open === socket && give(`the connection failed: ${error.message}`))
    socket.on('close', () => {
      if (open !== socket) return
      reader.close()
      give('the connection ended inside the stream')
    })
    return socket
  }

  return {
    run(input, check) {
      return new Promise((resolve) => {
        running = { check, heardAt: performance.now(), settle: resolve }
        if (door.startless === true) check.event(STARTED)
        open ??= openSocket()
        open.write(
          `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept: ${accept}\r\n` +
            `content-length: ${Buffer.byteLength(input)}\r\n\r\n${input}`,
        )
      })
    },
    expire(ms) {
      if (running !== null && performance.now() - running.heardAt > ms) give(`silent for ${ms / 1000} s`)
    },
    close() {
      open?.destroy()
      open = null
    },
  }
}
