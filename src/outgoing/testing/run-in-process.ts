import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const importOf = (path: string) => `await import(${JSON.stringify(new URL(path, import.meta.url).href)})`

/**
 * Runs `code` in a new process, for what a test cannot see or change in its own. The code can use `connections`, `pool`, `ask`, `until`,
 * `turns` and `url`. Returns what it prints. Throws when the process does not end by itself.
 */
export async function runInProcess(code: string, url: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const program = `
    const { createConnections } = ${importOf('../connections.ts')}
    const { ask, turns, until } = ${importOf('./ask.ts')}
    const connections = createConnections()
    const pool = connections.pool({ proxyVariables: null })
    const url = ${JSON.stringify(url)}
    ${code}`
  const options = { timeout: 60_000, env: { ...process.env, ...env } }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], options)
  return stdout
}
