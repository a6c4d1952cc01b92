// What the id of an agent's connection tells about it. A connection of an MCP client with a handshake has a UUID.

import type { Supervision } from '../../domain/supervision/supervision.ts'

const HOOK = 'hook:'

/** The connection of a session that begins with a hook. Nothing is open between two hooks. */
export const hookConnection = ({ host, hostSessionId }: { host: string; hostSessionId: string }): string =>
  `${HOOK}${host}:${hostSessionId.slice(0, 200)}`

/** One process of `quarterdeck mcp`. */
export const bridgeConnection = (tokenId: string, bridgeId: string): string => `${tokenId}:${bridgeId}`

export const isOfHook = (connectionId: string | null): boolean => connectionId?.startsWith(HOOK) === true

/**
 * Whether the agent's connection is open all the time, so that the agent is gone when the connection is. The end of a process that we
 * started is seen at once, and tells more.
 */
export function hasLastingConnection({ connectionId, mcp = [], spawned }: Supervision): boolean {
  if (connectionId === null || isOfHook(connectionId) || spawned !== null) return false
  const isOfBridge = connectionId.includes(':')
  return isOfBridge || mcp.some(({ id, listens }) => id === connectionId && listens === true)
}
