// The program in the two ways in which a reader has it: from a clone, and packed by npm as it would be published.

import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import buildConsole from '../browser/build-console.ts'

export interface Programs {
  folder: string
  /** A clone in which `npm ci` was run. */
  clone: string
  /** The `node_modules` of a project in which the package was installed. */
  packed: string
  remove(): void
}

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

export async function makePrograms(): Promise<Programs> {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-learn-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const [clone, checkout] = [join(folder, 'clone'), join(folder, 'checkout')]
    const packed = join(folder, 'app/node_modules')
    await copyCheckout(clone)
    await copyCheckout(checkout)
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: checkout,
      maxBuffer: 20_000_000,
    })
    const [{ filename }]: [{ filename: string }] = JSON.parse(stdout)
    await install(join(folder, filename), packed)
    rmSync(checkout, { recursive: true })
    return { folder, clone, packed, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** With the files that git knows or would add, and the packages and the console that `npm ci` puts there. */
async function copyCheckout(to: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 20_000_000,
  })
  const isNeeded = (file: string) => !/^(?:test|bench|console)\/(?!package)|\.test\.ts$/.test(file)
  for (const file of stdout.split('\0').filter((name) => name !== '' && isNeeded(name))) {
    cpSync(join(root, file), join(to, file))
  }
  await buildConsole()
  cpSync(join(root, 'dist/console'), join(to, 'dist/console'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'))
}

/** Like `npm install`, from the packages that are here. */
async function install(tarball: string, packages: string): Promise<void> {
  const installed = join(packages, 'quarterdeck')
  mkdirSync(join(packages, '.bin'), { recursive: true })
  mkdirSync(installed)
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed])
  symlinkSync('../quarterdeck/bin/quarterdeck.js', join(packages, '.bin/quarterdeck'))
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  // On an older Node the program runs on the one that npm installs with it.
  const nodes = globSync('node-{linux,win}-*', { cwd: join(root, 'node_modules') })
  for (const name of [...Object.keys(dependencies), ...nodes]) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
}
