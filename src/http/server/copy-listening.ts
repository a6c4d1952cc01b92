// Copies of a listening socket. libuv accepts one connection per turn of the event loop from each descriptor, and with a thousand streams
// a turn takes 50 ms: new clients waited half a minute. Sixteen descriptors of the same socket take sixteen connections per turn. Several
// sockets on one port (`reusePort`) would do that too, but then any program of the same user could open the port as well.

import { type ChildProcess, spawn } from 'node:child_process'
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
  // It stays heard: a child that could not be started reports that more than once, and an error that nobody hears ends the server.
  const ended = new Promise((resolve) => child.on('error', resolve).once('exit', resolve))
  // Without a process, the signal would go to process 0: to all of our own group.
  const stop = () => child.pid !== undefined && child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  try {
    for (const server of servers) {
      for (let i = 0; i < copies && !signal.aborted; i += 1) {
        const { _handle: descriptor } = Object(server)
        const answered = new Promise<ListeningCopy | undefined>((resolve) =>
          child.once('message', (_message, copy) => resolve(copy)),
        )
        // An error of the channel is reported to the callback; the child has ended then.
        child.send('copy', descriptor, () => {})
        const copy = await Promise.race([answered, ended.then(() => undefined)])
        if (copy === undefined) return
        take(copy)
      }
    }
  } catch {
    // No file descriptors are left for a channel, or the socket belongs to the parent of a cluster.
  } finally {
    signal.removeEventListener('abort', stop)
    // Until it has ended, it keeps the port open.
    stop()
    await ended
  }
}
