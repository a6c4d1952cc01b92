import type { ServerTool } from '../tool.ts'
import { toolBinding } from '../tool-binding.ts'

/**
 * A tool for tests. What is left out has the default of agent.yaml. Its binding is the text of `call`. Give your own `binding` to
 * test a tool that changes.
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
