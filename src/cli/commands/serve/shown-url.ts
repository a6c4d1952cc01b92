import type { NetworkInterfaceInfo } from 'node:os'

/** `0.0.0.0` and `::` are everywhere and nowhere: a person needs an address that other machines can open. */
export function shownUrl(
  url: string,
  interfaces: Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>,
): string {
  const shown = new URL(url)
  if (shown.hostname !== '0.0.0.0' && shown.hostname !== '[::]') return url
  const addresses = Object.values(interfaces).flatMap((list) => list ?? [])
  shown.hostname = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
  return shown.origin
}
