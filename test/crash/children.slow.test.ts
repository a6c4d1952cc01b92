// When a server ends, the processes that it has started end too, with everything that they have started.

import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ms, print } from './support/figures.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** The command lines of the processes that name this file. */
async function processesNaming(path: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(path)).map((line) => line.split('\0').join(' '))
}

/** An agent with an MCP server that has a child process. Both name this file in their command line. */
async function openHouse() {
  const mark = 'known-by-this-file'
  // If the test fails, the processes still end soon.
  const script = 'timeout --foreground 60 tail -f "$PWD/$1" & exec "$2" "$3" stdio "$PWD/$1"'
  const yard = await openYard(onTestFinished, {
    agent: {
      tools: [
        {
          type: 'mcp',
          name: 'everything',
          command: '/bin/sh',
          args: ['-c', script, 'sh', mark, process.execPath, everything],
        },
      ],
    },
    files: { [mark]: '' },
  })
  return { yard, mark: join(yard.directory, mark) }
}

describe.skipIf(process.platform !== 'linux')('the processes of MCP servers', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('end with %s, and those they have started', async (signal) => {
    const { yard, mark } = await openHouse()
    const server = await yard.start({ flags: ['--drain', '2s', '--log-level', 'warn'] })
    await record({ url: server.url, method: 'POST', body: runInput('thread', 'run', 'Hello?') }).done
    await until('the server and its child run', async () => (await processesNaming(mark)).length >= 2)
    const before = await processesNaming(mark)

    const signalled = performance.now()
    server.signal(signal)
    const { code } = await server.exited
    const afterMs = performance.now() - signalled

    expect([code, await processesNaming(mark)]).toEqual([0, []])
    print(`P15: ${signal}: ${before.length} processes of an MCP server gone with the server after ${ms(afterMs)}`)
  })
})
