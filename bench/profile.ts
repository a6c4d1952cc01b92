// Shows where the server's time goes at full speed: the 30 functions with the most self time.
//   node bench/profile.ts [--seconds 10] [--message full|paced:50] [--parallel 20] [--server bin/quarterdeck.js]
//                         [--keep folder]

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { selfTimes } from './cpu-profile.ts'
import { round } from './figure.ts'
import { openStage } from './stage.ts'

const TOP = 30
const root = join(import.meta.dirname, '..')

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      message: { type: 'string', default: 'full' },
      parallel: { type: 'string', default: '20' },
      server: { type: 'string', default: join(root, 'bin', 'quarterdeck.js') },
      /** Folder for the .cpuprofile files, which Chrome and editors can show. */
      keep: { type: 'string' },
    },
  })
  const stage = await openStage({ serverScript: values.server })
  try {
    const folder = stage.folder('profile')
    const server = await stage.server({ nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${folder}`] })
    const result = await stage.load(server, {
      parallel: Number(values.parallel),
      seconds: Number(values.seconds),
      message: values.message,
      tokens: 200,
    })
    // Node writes the profiles when the process ends by itself.
    await server.stop()
    const times = selfTimes(folder, root)
    if (values.keep !== undefined) cpSync(folder, values.keep, { recursive: true })
    if (times.length === 0) throw new Error('The server wrote no profile. It must end by itself on SIGTERM.')
    const sum = times.reduce((total, { ms }) => total + ms, 0)
    const lines = times
      .slice(0, TOP)
      .map(({ where, ms }) => `${round((ms / sum) * 100).padStart(5)} %  ${round(ms).padStart(6)} ms  ${where}`)
    process.stdout.write(
      `${result.runs} runs, ${result.failed} failed, ${round(result.cpuMsPerRun)} ms of CPU a run (with the profiler on)\n${lines.join('\n')}\n`,
    )
  } finally {
    await stage.close()
  }
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 2
  })
}
