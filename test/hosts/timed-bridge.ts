// In front of `quarterdeck mcp`, where a host starts it: writes down when each tool call came from the host and when its answer left.
// Arguments: the file to write to, then the command line of the bridge.

import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A line of the file. `out` is null in the line of a call that has come, which its answer repeats with the time. */
export interface TimedCall {
  /** Of the bridge's process and the request. */
  id: string
  tool: string
  in: number
  out: number | null
  /** How the answer begins. */
  said?: string
}

interface Message {
  id?: number | string
  method?: string
  params?: { name?: string }
}

const [file = '', ...command] = process.argv.slice(2)
const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] })
const open = new Map<number | string, TimedCall>()
const write = (call: TimedCall) => appendFileSync(file, `${JSON.stringify(call)}\n`)

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as Message
    if (method === 'tools/call' && id !== undefined) {
      const call = { id: `${process.pid}-${id}`, tool: params?.name ?? '', in: Date.now(), out: null }
      open.set(id, call)
      write(call)
    }
    child.stdin.write(`${line}\n`)
  })
  .on('close', () => child.stdin.end())
createInterface({ input: child.stdout }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as Message
  const call = method === undefined && id !== undefined ? open.get(id) : undefined
  if (call !== undefined) write({ ...call, out: Date.now(), said: line.slice(0, 500) })
  process.stdout.write(`${line}\n`)
})
child.on('exit', (code) => process.exit(code ?? 1))
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
