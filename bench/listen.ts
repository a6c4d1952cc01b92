import { once } from 'node:events'
import type { Server } from 'node:net'

/** Makes the server listen on loopback and returns its port. Port 0 asks for a free one. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port')
  return address.port
}
