// The part of a module that is the tool: a function, or an object around one.

import type { FunctionToolSettings } from '../../domain/tool-settings.ts'
import type { ModuleExports } from './import-module.ts'
import { toolConfigError } from './tool-config-error.ts'

export interface PickedExport {
  run: (...args: unknown[]) => unknown
  /** The text of the function where the export is a plain function; null for an object around one. */
  plainText: string | null
  description: unknown
  parameters: unknown
  returns: unknown
  /** What the tool says about a call before it runs. */
  preview: AnyFunction | undefined
  needsApproval: AnyFunction | undefined
}

/** Names of the member of an exported object that is the function. */
const MEMBERS = ['run', 'execute'] as const

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

/** Throws `config_invalid`. */
export function pickExport(settings: FunctionToolSettings, module: ModuleExports): PickedExport {
  const value = exportOf(settings, module)
  if (!isFunction(value) && (typeof value !== 'object' || value === null)) {
    throw toolConfigError(
      settings,
      `the export ${settings.export} is ${kindOf(value)}. Export a tool that defineTool made: { description, parameters, run }.`,
    )
  }
  // A function may have them as properties.
  const about = {
    description: ownValue(value, 'description'),
    parameters: ownValue(value, 'parameters') ?? ownValue(value, 'inputSchema'),
    returns: ownValue(value, 'returns') ?? ownValue(value, 'outputSchema'),
    preview: reviewer(settings, value, 'preview'),
    needsApproval: reviewer(settings, value, 'needsApproval'),
  }
  if (isFunction(value)) {
    const plainText = Function.prototype.toString.call(value)
    if (/^class\b/.test(plainText))
      throw toolConfigError(settings, `the export ${settings.export} is a class. Export a tool that defineTool made.`)
    return { ...about, run: (...args) => value.apply(undefined, args), plainText }
  }
  const member = MEMBERS.map((name) => ownValue(value, name)).find(isFunction)
  if (member === undefined) {
    const message = `the export ${settings.export} has no function run. Write ${settings.export} = { …, run(args, context) { … } }.`
    throw toolConfigError(settings, message)
  }
  return { ...about, run: (...args) => member.apply(value, args), plainText: null }
}

/** A reviewer that cannot be called would silently never be asked. */
function reviewer(
  settings: FunctionToolSettings,
  holder: object,
  key: 'preview' | 'needsApproval',
): AnyFunction | undefined {
  const value = ownValue(holder, key)
  if (value === undefined) return undefined
  if (!isFunction(value))
    throw toolConfigError(settings, `${key} is ${kindOf(value)}. Write ${key}(args, context) { … }.`)
  return (...args) => value.apply(holder, args)
}

function exportOf(settings: FunctionToolSettings, module: ModuleExports): unknown {
  const { export: name } = settings
  // A namespace has no prototype, so every property is an export.
  if (name in module) return module[name]
  // Node does not see every named export of a CommonJS module.
  const whole = 'module.exports' in module ? module['module.exports'] : undefined
  if (typeof whole === 'object' && whole !== null && Object.hasOwn(whole, name)) return ownValue(whole, name)
  const names = Object.keys(module).filter((key) => key !== 'module.exports')
  const near = names.find((key) => plainName(key) === plainName(name)) ?? (names.length === 1 ? names[0] : undefined)
  const help = near === undefined ? 'Name one of them with export: in agent.yaml.' : `Write export: ${near}`
  throw toolConfigError(
    settings,
    names.length === 0
      ? `the file exports nothing. Write export const ${name} = defineTool({ … })`
      : `there is no export ${name}. The file exports ${names.join(', ')}. ${help}`,
  )
}

/** `get_weather` and `getWeather` are one name in two styles. */
const plainName = (name: string): string => name.replaceAll('_', '').toLowerCase()

const ownValue = (holder: object, key: string): unknown => Reflect.get(holder, key)

const isFunction = (value: unknown): value is AnyFunction => typeof value === 'function'

const kindOf = (value: unknown): string => (value === null ? 'null' : `a value of type ${typeof value}`)
