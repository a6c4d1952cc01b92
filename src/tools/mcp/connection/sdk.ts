// The official MCP client. It is loaded for the first server, so that agents without MCP pay nothing for it.

export type McpSdk = typeof import('@modelcontextprotocol/client')

export const loadSdk = (): Promise<McpSdk> => import('@modelcontextprotocol/client')
