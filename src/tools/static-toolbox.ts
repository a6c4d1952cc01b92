import type { Tool, Toolbox } from './tool.ts'

/** Tools that are always there, with no server behind them. */
export function createStaticToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    start() {},
    tools: async () => byName,
    servers: () => [],
    close: async () => {},
  }
}
