import type { Socket } from 'node:net'

/**
 * Hands what a socket reads to undici at once. A stream would first keep it, and tell of it two ticks later: for a model's small
 * chunks that costs more than reading them. What undici leaves is kept by the stream as always, so its pauses still hold up the server.
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
