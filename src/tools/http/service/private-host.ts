import { isIP } from 'node:net'
import { isPublicAddress } from './safe-address.ts'

/** Whether the address says itself that it is not public, so that the mistake is told at the start and not at the first call. */
export function isPrivateHost({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(name) !== 0) return !isPublicAddress(name)
  return name === 'localhost' || name.endsWith('.localhost')
}

export const privateHostProblem = (url: URL): string =>
  `${url.host} is on this machine or in a private network. Write allow_private: true if the tool may call it.`
