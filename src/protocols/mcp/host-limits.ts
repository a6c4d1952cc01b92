// How long a host lets a tool call block before it gives up. Found out with the real hosts; docs/supervision.md names the versions.

import type { CallLimit } from '../../hosts/host.ts'
import { hosts } from '../../hosts/hosts.ts'

/** Most clients are built on SDKs that wait for a minute. */
const UNKNOWN: Omit<CallLimit, 'client'> = { seconds: 60, isExtended: false }
const MARGIN_MS = 10_000
/** Claude Code ends every call after 27 hours. */
const EXTENDED_MS = 24 * 60 * 60 * 1000

/**
 * When to answer a call at the latest. `hostLimitMs` is what the host's configuration says, if we know it: it is a hard limit, also for
 * hosts that progress keeps waiting otherwise.
 */
export function callLimitMs(
  client: { name: string } | null,
  hasProgress: boolean,
  hostLimitMs: number | null = null,
): number {
  const known = Object.values(hosts).find(({ call }) => client !== null && call.client.test(client.name))
  const limit = known?.call ?? UNKNOWN
  const usual = limit.isExtended && hasProgress ? EXTENDED_MS : limit.seconds * 1000 - MARGIN_MS
  if (hostLimitMs === null) return usual
  const set = Math.max(hostLimitMs - MARGIN_MS, hostLimitMs / 2)
  // Such a host also gives up after silence, whatever its configuration says.
  return limit.isExtended ? Math.min(set, usual) : set
}
