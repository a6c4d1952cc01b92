// The official client is loaded when the first server is needed: an agent without MCP pays nothing for it.

export type McpSdk = typeof import('@modelcontextprotocol/client')

export const loadSdk = (): Promise<McpSdk> => import('@modelcontextprotocol/client')
