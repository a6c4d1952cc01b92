import { createServer } from 'node:net'
import { isNoAddress } from '../../../http/server/listen.ts'

/** On which of the addresses somebody listens, or null. What this machine does not have counts for the first one alone. */
export async function takenHost(hosts: readonly string[], port: number): Promise<string | null> {
  for (const [i, host] of hosts.entries()) {
    const trouble = await tryPort(host, port)
    if (trouble !== null && (i === 0 || !isNoAddress(trouble))) return host
  }
  return null
}

function tryPort(host: string, port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** The first free port after `port`, or null when the next fifty are taken. */
export async function findFreePort(hosts: readonly string[], port: number): Promise<number | null> {
  for (let candidate = port + 1; candidate <= Math.min(port + 50, 65_535); candidate += 1) {
    if ((await takenHost(hosts, candidate)) === null) return candidate
  }
  return null
}
