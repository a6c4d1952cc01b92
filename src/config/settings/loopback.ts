import { BlockList, isIP } from 'node:net'

/** Whether only this machine can reach a server that listens on `host`. A name other than localhost may mean anything. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  const family = isIP(name)
  if (family === 0) return false
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8, 'ipv4')
  loopback.addAddress('::1', 'ipv6')
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6')
}
