// An example, copied out of the checkout as its reader copies it, with the package that was built from this source installed beside it.

import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject, onTestFinished } from 'vitest'
import { serversIn, type Yard } from '../crash/support/start-server.ts'

const root = join(import.meta.dirname, '../..')

export const OPERATOR_TOKEN = 'the-token-of-the-operator'

export interface CopiedExample extends Pick<Yard, 'start'> {
  readonly folder: string
  /** Without our environment. */
  readonly env: Readonly<Record<string, string>>
  /** What a command prints in the folder. Throws if it fails. */
  run(command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>
  quarterdeck(...args: string[]): Promise<string>
  /** Starts a command that goes on until the test ends, and waits until it has printed `ready`. */
  launch(command: string, args: readonly string[], ready: string, env?: Readonly<Record<string, string>>): Promise<void>
}

/** `packages` are installed beside it, too. Everything ends with the test. */
export async function copyExample(name: string, packages: readonly string[] = []): Promise<CopiedExample> {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'quarterdeck-example-')))
  const folder = join(place, name)
  const start = serversIn(place, onTestFinished)
  const children: ChildProcess[] = []
  onTestFinished(async () => void (await Promise.all(children.map(stop))))
  await cp(join(root, 'examples', name), folder, { recursive: true })
  const install = async (from: string, as: string) => {
    await mkdir(dirname(join(folder, 'node_modules', as)), { recursive: true })
    await symlink(from, join(folder, 'node_modules', as))
  }
  const program = inject('program')
  await install(join(dirname(program), '..'), 'quarterdeck')
  for (const one of packages) await install(join(root, 'node_modules', one), one)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(place, 'home'),
    QUARTERDECK_CONFIG_DIR: join(place, 'config'),
    QUARTERDECK_LOG_LEVEL: 'warn',
    QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN,
  }
  const run: CopiedExample['run'] = async (command, args, more = {}) => {
    const child = spawn(command, args, { cwd: folder, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
    if ((await ended) !== 0) throw new Error(`${command} ${args.join(' ')}\n${printed}\n${complained}`)
    return printed
  }
  return {
    folder,
    env,
    start: (options = {}) => start({ cwd: folder, ...options, env: { ...env, ...options.env } }),
    run,
    quarterdeck: (...args) => run(process.execPath, [program, ...args]),
    async launch(command, args, ready, more = {}) {
      const child = spawn(command, args, {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject).once('exit', (code) => reject(new Error(`${command} ended with ${code}`)))
        child.stdout.on('data', (chunk) => String(chunk).includes(ready) && resolve())
      })
    },
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  await gone
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
