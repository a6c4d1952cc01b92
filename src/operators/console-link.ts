import { isLoopback } from '../domain/is-loopback.ts'

/** Address of the console's page about a record that waits; of the whole inbox for null. */
export type ConsoleLink = (id: string | null) => string

/** Browsers have no passkeys for an IP address, so a server on this machine is opened by its name. Leaves other addresses alone. */
export function onLocalhost(address: string): string {
  const { host, hostname, port } = new URL(address)
  const isLocal = hostname !== 'localhost' && isLoopback(hostname)
  return isLocal ? address.replace(host, `localhost${port === '' ? '' : `:${port}`}`) : address
}

/** `base` is where people open the server in a browser, without a slash at the end. */
export const createConsoleLink =
  (base: string): ConsoleLink =>
  (id) =>
    id === null ? `${base}/console/inbox` : `${base}/console/inbox/${id}`
