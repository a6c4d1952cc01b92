import { visibleText } from '../../domain/text/visible-text.ts'
import type { AgentIdentity } from '../../supervision/sessions/supervised-sessions.ts'
import type { McpAgent } from './tool-table.ts'

const MOST_HOST_CHARS = 64

/** The client says what it likes, and it stands in every record. */
const hostName = (name: string): string =>
  visibleText([...name.slice(0, 2 * MOST_HOST_CHARS)].slice(0, MOST_HOST_CHARS).join('')) || 'unknown'

/** Who calls, for supervision. `named` is the session that the call itself names; null: none. */
export function agentIdentity(agent: McpAgent, named: string | null = null): AgentIdentity {
  const { principal, workspace, sessionId, channelId, client, connectionId, isLasting } = agent
  return {
    owner: principal.owner,
    tokenId: principal.tokenId,
    workspaceRoot: workspace,
    channelId,
    isChannelOfToken: channelId !== null && channelId === principal.channel,
    sessionId: named ?? sessionId,
    connectionId: isLasting ? connectionId : null,
    host: hostName(client?.name ?? ''),
  }
}
