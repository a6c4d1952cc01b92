import type { Socket } from 'node:net'

/**
 * Passes what a socket reads to undici at once. A stream would first buffer it and emit `readable` two ticks later, which costs more
 * than reading a model's small chunks. What undici does not take goes into the stream's buffer as usual, so pausing still slows the server.
 */
export function quickReads(socket: Socket): void {
  const push = socket.push.bind(socket)
  const read = socket.read.bind(socket)
  let fresh: Buffer | null = null

  socket.push = (chunk: Buffer | null) => {
    if (chunk === null || socket.readableLength > 0 || socket.listenerCount('readable') === 0) return push(chunk)
    fresh = chunk
    socket.emit('readable')
    if (fresh === null) return true
    fresh = null
    return push(chunk)
  }
  socket.read = (size?: number): Buffer | null => {
    if (fresh === null) return read(size)
    const taken = fresh
    fresh = null
    return taken
  }
}
