import type { Tool, Toolbox } from './tool.ts'

/** Tools that are always there. */
export function createStaticToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return toolboxOf(byName)
}

export const toolboxOf = (tools: ReadonlyMap<string, Tool>): Toolbox => ({
  start() {},
  tools: async () => tools,
  servers: () => [],
  close: async () => {},
})
