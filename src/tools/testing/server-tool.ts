import type { ServerTool } from '../tool.ts'
import { toolBinding } from '../tool-binding.ts'

/**
 * A tool given in code. What is left out is what agent.yaml would have by default. Its binding is the text of `call`: give one of
 * your own where what that calls may change.
 */
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
    binding: toolBinding('code', { call: tool.call.toString() }),
    risk: effect === 'read' ? 'low' : 'high',
    ...tool,
    effect,
    location: 'server',
  }
}
