import { onTestFinished } from 'vitest'
import { startPostgres } from '../../postgres/server.ts'
import { startTcpProxy } from '../../postgres/tcp-proxy.ts'

/** Each replica reaches Postgres through a proxy of its own. */
export async function openProxies(replicas: number) {
  const server = await startPostgres()
  onTestFinished(() => server.discard())
  const proxies = await Promise.all(Array.from({ length: replicas }, () => startTcpProxy(server.url)))
  onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))))
  return { proxies, server, replicas, store: (_url: string, place: number) => proxies[place]?.url ?? server.url }
}
