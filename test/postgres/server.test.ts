import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isRunning } from './server.ts'

/** Programs that only look like Postgres, so that this is fast. */
function fakePostgres(): string {
  const bin = mkdtempSync(join(tmpdir(), 'quarterdeck-fake-postgres-'))
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }))
  const programs = {
    initdb: 'exit 0',
    postgres: 'echo $$ > "$2/pid"; echo "ready to accept connections" >&2; exec sleep 1000',
  }
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  chmodSync(bin, 0o755)
  return bin
}

test.skipIf(process.platform !== 'linux').each(['SIGTERM', 'SIGKILL'] as const)(
  'a server ends with the process that started it, also by %s',
  async (signal) => {
    const bin = fakePostgres()
    const script = `
      const { startPostgres } = await import(${JSON.stringify(join(import.meta.dirname, 'server.ts'))})
      const { readFileSync } = await import('node:fs')
      const { dir } = await startPostgres({ bin: ${JSON.stringify(bin)} })
      console.log(JSON.stringify({ dir, pid: Number(readFileSync(dir + '/data/pid', 'utf8')) }))`
    const program = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(program.stdout, 'data')
    const { dir, pid }: { dir: string; pid: number } = JSON.parse(String(said))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    expect([isRunning(pid), existsSync(dir)]).toEqual([true, true])

    program.kill(signal)
    while (isRunning(pid) || existsSync(dir)) await new Promise((resolve) => setTimeout(resolve, 10))
  },
)
