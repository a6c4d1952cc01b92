import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port for a server that is started later, or again. It lies below those that the system gives to whoever asks for any: while nobody
 * listens on it, no other test gets it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
