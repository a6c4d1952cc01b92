// Copies of a listening socket. libuv accepts one connection per turn of the event loop from each descriptor, and with a thousand streams
// a turn takes 50 ms: new clients waited half a minute. Sixteen descriptors of the same socket take sixteen connections per turn. Several
// sockets on one port (`reusePort`) would do that too, but then any program of the same user could open the port as well.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'

/** A descriptor, as `server.listen` takes it. */
export type ListeningCopy = object

/** Node cannot copy a descriptor. But what a child sends back is a copy. The child does not accept connections itself. */
const ECHO = `process.on('message', (message, handle) => process.send(message, handle))`

/** Hands each copy to `take`. Stops when `signal` aborts, or if no child can be started: one descriptor serves too. Never rejects. */
export async function copyListening(
  servers: readonly Server[],
  copies: number,
  take: (copy: ListeningCopy) => void,
  signal: AbortSignal,
): Promise<void> {
  let child: ChildProcess
  try {
    // It gets no environment: there are secrets in it.
    child = spawn(process.execPath, ['-e', ECHO], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  } catch {
    return
  }
  const ended = new Promise((resolve) => child.once('error', resolve).once('exit', resolve))
  const stop = () => child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  try {
    for (const server of servers) {
      for (let i = 0; i < copies && !signal.aborted; i += 1) {
        const { _handle: descriptor } = Object(server)
        // An error of the channel is reported to the callback; the child has ended then.
        child.send('copy', descriptor, () => {})
        const [, copy] = await Promise.race([once(child, 'message'), ended.then(() => [])])
        if (copy === undefined) return
        take(copy)
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    if (child.connected) child.disconnect()
    // Until it has ended, it keeps the port open.
    await ended
  }
}
