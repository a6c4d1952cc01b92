import { createServer } from 'node:net'

/** Can this address be listened on right now? */
export function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** The first free port after `port`, or null when the next fifty are taken. */
export async function findFreePort(host: string, port: number): Promise<number | null> {
  for (let candidate = port + 1; candidate <= Math.min(port + 50, 65_535); candidate += 1) {
    if (await isPortFree(host, candidate)) return candidate
  }
  return null
}
