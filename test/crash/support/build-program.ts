// Builds the program once for all tests of a run that start it as a process: the built program starts in half the processor time of the
// source. Vitest calls this only when a test of the project `program` is about to run.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The launcher of a program that was built from this source and lies in a folder like an installed package. */
    program: string
  }
}

const root = join(import.meta.dirname, '../../..')

export default async function buildProgram(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-program-'))
  const clean = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const build = [join(root, 'scripts/build.ts'), '--to', join(folder, 'dist')]
    await promisify(execFile)(process.execPath, build, { cwd: root })
    for (const name of ['bin', 'package.json']) await cp(join(root, name), join(folder, name), { recursive: true })
    const manifest: Record<string, Record<string, string>> = JSON.parse(
      await readFile(join(root, 'package.json'), 'utf8'),
    )
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
    await warmUp(folder)
  } catch (error) {
    await clean()
    throw error
  }
  project.provide('program', join(folder, 'bin/quarterdeck.js'))
  return clean
}

/**
 * Starts a server and stops it, which keeps its compiled code in the cache that `start-server.ts` names. Each later start takes a quarter
 * less processor time. Most of them would not keep it, because the tests kill them.
 */
async function warmUp(folder: string): Promise<void> {
  const args = [join(folder, 'bin/quarterdeck.js'), 'serve', '--port', '0', '--data-dir', join(folder, 'data')]
  const env = {
    PATH: process.env.PATH,
    XDG_CACHE_HOME: join(folder, 'cache'),
    QUARTERDECK_CONFIG_DIR: join(folder, 'config'),
    QUARTERDECK_RELAUNCHED: '1',
  }
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  const ended = once(server, 'close')
  let said = ''
  server.stdout?.on('data', (text) => {
    said += String(text)
    if (said.includes('Ctrl-C')) server.kill('SIGTERM')
  })
  await ended
}
