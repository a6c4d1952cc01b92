import { once } from 'node:events'
import type { Server } from 'node:net'

/** Opens the server on loopback and tells the port it got; 0 asks for a free one. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port')
  return address.port
}
