import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const importOf = (path: string) => `await import(${JSON.stringify(new URL(path, import.meta.url).href)})`

/**
 * Runs `lines` in a process of their own, for what a test cannot see or change in its own. They find `connections`, `lines`, `ask`, `until`,
 * `turns` and `url`. Gives what they print; throws when the process does not end by itself.
 */
export async function runLines(code: string, url: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const program = `
    const { createConnections } = ${importOf('../connections.ts')}
    const { ask, turns, until } = ${importOf('./ask.ts')}
    const connections = createConnections()
    const lines = connections.through({})
    const url = ${JSON.stringify(url)}
    ${code}`
  const options = { timeout: 15_000, env: { ...process.env, ...env } }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], options)
  return stdout
}
