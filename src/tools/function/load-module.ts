// From a path to a module's exports; every failure says what to do about it.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../../domain/clock.ts'
import type { FunctionToolSettings } from '../../domain/tool-settings.ts'
import { type ImportedModule, importModule } from './import-module.ts'
import { toolConfigError } from './tool-config-error.ts'

export interface LoadModuleDeps {
  clock: Clock
  reload?: number | undefined
}

const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']
const TYPESCRIPT = ['.ts', '.mts', '.cts']

/** A module may fetch something while it loads; it must not keep the server from starting. */
const LOAD_LIMIT_MS = 30_000

/** Throws `config_invalid`. */
export async function loadModule(settings: FunctionToolSettings, deps: LoadModuleDeps): Promise<ImportedModule> {
  const { file } = settings
  const ending = extname(file)
  if (!ENDINGS.includes(ending))
    throw toolConfigError(
      settings,
      `a function tool is an export of a .ts, .js or .mjs file, not of ${ending || 'this'}.`,
    )
  if (!existsSync(file)) throw toolConfigError(settings, 'there is no such file. Check file: in agent.yaml.')
  if (TYPESCRIPT.includes(ending) && /[\\/]node_modules[\\/]/.test(file)) {
    const help = 'Copy the file out of node_modules, or name the package’s .js file.'
    throw toolConfigError(settings, `Node runs no TypeScript under node_modules. ${help}`)
  }
  const limit = Promise.withResolvers<null>()
  const cancel = deps.clock.after(LOAD_LIMIT_MS, () => limit.resolve(null), true)
  const loaded = await Promise.race([importModule(file, deps.reload), limit.promise])
    .catch((error: unknown) => {
      throw importFailed(settings, error)
    })
    .finally(cancel)
  if (loaded !== null) return loaded
  const help = 'Move what it waits for into the function.'
  throw toolConfigError(settings, `the file did not finish loading within ${LOAD_LIMIT_MS / 1000} s. ${help}`)
}

function importFailed(settings: FunctionToolSettings, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const message = error instanceof Error ? error.message : String(error)
  const line =
    error instanceof Error ? (lineIn(settings.file, error.stack ?? '') ?? syntaxLine(settings.file, error)) : null
  return toolConfigError(
    settings,
    `${firstLine(message)} ${helpFor(code, error, line === null ? settings.file : null)}`,
    { line, cause: error },
  )
}

/** Node keeps the place of a syntax error in JavaScript to itself until it prints it, so another one is asked to. Nothing is run. */
function syntaxLine(file: string, error: Error): number | null {
  if (!(error instanceof SyntaxError) || TYPESCRIPT.includes(extname(file))) return null
  const options = { input: readFileSync(file), encoding: 'utf8', env: {}, timeout: 5_000 } as const
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], options)
  const line = /^\[stdin\]:(\d+)$/m.exec(stderr)?.[1]
  return line !== undefined && stderr.includes(error.message) ? Number(line) : null
}

/** A syntax error without a place is in a file that this one imports. */
function helpFor(code: unknown, error: unknown, placeless: string | null): string {
  switch (code) {
    case 'ERR_MODULE_NOT_FOUND':
    case 'MODULE_NOT_FOUND':
    case 'ERR_UNSUPPORTED_DIR_IMPORT':
      return 'Install the package beside the file; a file beside it is imported with its ending: ./other.ts'
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return 'Node only strips types: write it without enum, namespace, parameter properties and import =.'
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return 'Node runs no TypeScript under node_modules: import the package’s JavaScript.'
  }
  if (error instanceof SyntaxError) return placeless === null ? 'Fix the file.' : `This shows where: node ${placeless}`
  return 'The file threw this while it was loaded. Fix it, or move the work into the function.'
}

/** A sentence of its own. */
function firstLine(message: string): string {
  const [line = ''] = message.trim().split('\n')
  return /[.!?]$/.test(line) ? line : `${line}.`
}

/** The first place in the stack that is in this very file. */
function lineIn(file: string, stack: string): number | null {
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(name)
    const line = at === -1 ? null : /^(?:\?v=\d+)?:(\d+)/.exec(stack.slice(at + name.length))
    if (line?.[1] !== undefined) return Number(line[1])
  }
  return null
}
