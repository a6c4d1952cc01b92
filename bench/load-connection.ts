import { connect, type Socket } from 'node:net'
import type { LoadDoor } from './door.ts'
import { createHttpReader } from './http-reader.ts'
import { createSseFrames } from './sse-frames.ts'
import type { StreamCheck } from './stream-check.ts'

/** One client that makes one run after the other over a connection it keeps. */
export interface LoadConnection {
  /** Sends the input and feeds the check to the end of the answer. Resolves with what was wrong, or null; never rejects. */
  run(input: string, check: StreamCheck): Promise<string | null>
  /** Ends a run that has heard nothing for `ms`. */
  expire(ms: number): void
  close(): void
}

const STARTED = { type: 'RUN_STARTED' }

interface Running {
  check: StreamCheck
  heardAt: number
  settle(problem: string | null): void
}

/** `readBuffer` may be shared by all connections: what was read is consumed before the next read. */
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
      // Straight from the kernel: a stream's own buffers and queues would cost the load more than the checks do.
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
    // A socket that was given up says so late; by then another one is open.
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
