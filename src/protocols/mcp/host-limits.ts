// How long a host lets a tool call block before it gives up. Found out with the real hosts; docs/supervision.md names the versions.

interface HostLimit {
  /** Of a call without progress. */
  seconds: number
  /** The limit starts anew with every progress notification, so only the host's hard limit counts, if it asked for progress. */
  isExtended: boolean
}

const HOSTS: readonly (readonly [name: RegExp, limit: HostLimit])[] = [
  [/^claude-code\b/, { seconds: 300, isExtended: true }],
  [/^copilot-cli\b|^github-copilot/, { seconds: 180, isExtended: true }],
  [/^codex-mcp-client\b/, { seconds: 300, isExtended: false }],
  [/^gemini-cli/, { seconds: 600, isExtended: false }],
]
/** Most clients are built on SDKs that wait for a minute. */
const UNKNOWN: HostLimit = { seconds: 60, isExtended: false }
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
  const [, limit] = HOSTS.find(([name]) => client !== null && name.test(client.name)) ?? [null, UNKNOWN]
  const usual = limit.isExtended && hasProgress ? EXTENDED_MS : limit.seconds * 1000 - MARGIN_MS
  if (hostLimitMs === null) return usual
  const set = Math.max(hostLimitMs - MARGIN_MS, hostLimitMs / 2)
  // Such a host also gives up after silence, whatever its configuration says.
  return limit.isExtended ? Math.min(set, usual) : set
}
