import type { ServerTool } from './tool.ts'

/** A tool given in code. What is left out is what agent.yaml would have by default. */
export function serverTool(
  tool: Pick<ServerTool, 'name' | 'description' | 'call'> & Partial<Omit<ServerTool, 'location'>>,
): ServerTool {
  const effect = tool.effect ?? 'once'
  return {
    parameters: { type: 'object' },
    returns: null,
    timeoutMs: 30_000,
    retries: 0,
    approval: null,
    predictState: [],
    risk: effect === 'read' ? 'low' : 'high',
    ...tool,
    effect,
    location: 'server',
  }
}
