// Tests run under vite's loader, which handles types, errors and reloading in its own way. So this runs with Node's loader, as a process:
//   node load-in-node.ts '[{ write?, settings, reload?, args?, isBound? }, …]'   prints what each step gave, as JSON

import { writeFileSync } from 'node:fs'
import { loadFunctionTool } from '../load-function-tool.ts'
import { callOf, deps, functionSettings } from './fakes.ts'

export interface NodeStep {
  /** Files to write first, by path. */
  write?: Record<string, string>
  settings: Parameters<typeof functionSettings>[0]
  reload?: number
  args?: Record<string, unknown>
  /** Prints the tool's binding instead of calling it. */
  isBound?: boolean
}

const steps: NodeStep[] = JSON.parse(process.argv[2] ?? '[]')
const given: unknown[] = []
for (const { write = {}, settings, reload = null, args = {}, isBound = false } of steps) {
  for (const [file, text] of Object.entries(write)) writeFileSync(file, text)
  try {
    const tool = await loadFunctionTool(functionSettings(settings), { ...deps, reload })
    given.push(isBound ? tool.binding : await tool.call(callOf(args), new AbortController().signal))
  } catch (error) {
    given.push(error instanceof Error ? error.message : error)
  }
}
process.stdout.write(JSON.stringify(given))
